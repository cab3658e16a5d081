import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { TransferError } from '../errors/transfer-error.ts';

const maxSignatureLength = 1024;

const maxKeys = 20;

/** Reads an Ed25519 or ECDSA private key (PEM). Rejects with a config TransferError that does not quote the file. */
export async function readPrivateKey(file: string): Promise<KeyObject> {
  return parsePrivateKey(await readPem(file, 'private'), file);
}

/** Reads the public keys (PEM) that verify signatures. Rejects with a config TransferError. */
export async function readPublicKeys(file: string): Promise<KeyObject[]> {
  return parsePublicKeys(await readPem(file, 'public'), file);
}

/** Parses a private key; `where` names its origin. Throws a config TransferError that does not quote the text. */
export function parsePrivateKey(pem: string, where: string): KeyObject {
  return keyOf(pem, where, 'private', createPrivateKey);
}

/** Parses one or more concatenated public keys. Throws a config TransferError. */
export function parsePublicKeys(pem: string, where: string): KeyObject[] {
  const blocks = pem.match(/-----BEGIN [^-]{1,40}-----[^-]*-----END [^-]{1,40}-----/g) ?? [pem];
  if (blocks.length > maxKeys) throw unusable(where, 'public', `it has more than ${maxKeys} keys`);
  return blocks.map((block) => keyOf(block, where, 'public', createPublicKey));
}

async function readPem(file: string, kind: 'private' | 'public'): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (caught) {
    const why = caught instanceof Error ? caught.message : String(caught);
    throw new TransferError('config', `Cannot read the ${kind} key: ${why}.`, { cause: caught });
  }
}

function keyOf(
  pem: string,
  file: string,
  kind: 'private' | 'public',
  parse: (pem: string) => KeyObject,
): KeyObject {
  let key: KeyObject;
  try {
    key = parse(pem);
  } catch {
    // The parser's message is less helpful.
    throw unusable(file, kind, `it is not a PEM ${kind} key, or it is encrypted`);
  }
  if (key.asymmetricKeyType === 'ed25519' || key.asymmetricKeyType === 'ec') return key;
  throw unusable(file, kind, `its type is ${key.asymmetricKeyType}`);
}

function unusable(file: string, kind: string, why: string): TransferError {
  const make =
    'openssl genpkey -algorithm ed25519 -out key.pem; openssl pkey -in key.pem -pubout -out pub.pem';
  return new TransferError(
    'config',
    `${file} cannot be used as ${kind} key: ${why}. Use an Ed25519 or ECDSA key, created for example with: ${make}`,
  );
}

/** Returns a detached signature in base64, as `cosign sign-blob` writes it: Ed25519 over the bytes, or ECDSA over their SHA-256. */
export function signBytes(bytes: Uint8Array, key: KeyObject): Buffer {
  return Buffer.from(`${sign(hashOf(key), bytes, key).toString('base64')}\n`);
}

/** True if `signature` (of `signBytes`) over `bytes` was made with the private half of one of `keys`. */
export function isSigned(bytes: Uint8Array, signature: Uint8Array, keys: readonly KeyObject[]): boolean {
  const text = Buffer.from(signature.subarray(0, maxSignatureLength)).toString('latin1').trim();
  return keys.some((key) => isSignedBy(bytes, text, key));
}

function isSignedBy(bytes: Uint8Array, text: string, key: KeyObject): boolean {
  try {
    return verify(hashOf(key), bytes, key, Buffer.from(text, 'base64'));
  } catch {
    // OpenSSL throws for some malformed signatures.
    return false;
  }
}

function hashOf(key: KeyObject): 'sha256' | null {
  return key.asymmetricKeyType === 'ec' ? 'sha256' : null;
}
