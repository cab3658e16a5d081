import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { TransferError } from '../errors/transfer-error.ts';

const maxSignature = 1024;

const mostKeys = 20;

/** Reads the PEM of an Ed25519 or ECDSA key that signs. Rejects with a config TransferError that does not quote the file. */
export async function readPrivateKey(file: string): Promise<KeyObject> {
  return parsePrivateKey(await readPem(file, 'private'), file);
}

/** Reads the PEM of the public keys that a signature is checked with. Rejects with a config TransferError. */
export async function readPublicKeys(file: string): Promise<KeyObject[]> {
  return parsePublicKeys(await readPem(file, 'public'), file);
}

/** The same of a text; `where` says whose it is. Throws a config TransferError that quotes nothing of it. */
export function parsePrivateKey(pem: string, where: string): KeyObject {
  return keyOf(pem, where, 'private', createPrivateKey);
}

/** The public keys that follow one another in a text. Throws a config TransferError. */
export function parsePublicKeys(pem: string, where: string): KeyObject[] {
  const blocks = pem.match(/-----BEGIN [^-]{1,40}-----[^-]*-----END [^-]{1,40}-----/g) ?? [pem];
  if (blocks.length > mostKeys) throw unusable(where, 'public', `it has more than ${mostKeys} keys`);
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
    // The parser's message says less than this one.
    throw unusable(file, kind, 'it is no such key in PEM, or it is encrypted');
  }
  if (key.asymmetricKeyType === 'ed25519' || key.asymmetricKeyType === 'ec') return key;
  throw unusable(file, kind, `its type is ${key.asymmetricKeyType}`);
}

function unusable(file: string, kind: string, why: string): TransferError {
  const make =
    'openssl genpkey -algorithm ed25519 -out key.pem; openssl pkey -in key.pem -pubout -out pub.pem';
  return new TransferError(
    'config',
    `${file} cannot be used as ${kind} key: ${why}. Ed25519 and ECDSA keys can; make one with: ${make}`,
  );
}

/** A detached signature in base64, as `cosign sign-blob` writes it: Ed25519 over the bytes, or ECDSA over their SHA-256. */
export function signBytes(bytes: Uint8Array, key: KeyObject): Buffer {
  return Buffer.from(`${sign(hashOf(key), bytes, key).toString('base64')}\n`);
}

/** True if `signature`, as `signBytes` writes it, was made over `bytes` with the private half of one of `keys`. */
export function isSigned(bytes: Uint8Array, signature: Uint8Array, keys: readonly KeyObject[]): boolean {
  const text = Buffer.from(signature.subarray(0, maxSignature)).toString('latin1').trim();
  return keys.some((key) => isSignedBy(bytes, text, key));
}

function isSignedBy(bytes: Uint8Array, text: string, key: KeyObject): boolean {
  try {
    return verify(hashOf(key), bytes, key, Buffer.from(text, 'base64'));
  } catch {
    // Some forms of a wrong signature are an error of OpenSSL.
    return false;
  }
}

function hashOf(key: KeyObject): 'sha256' | null {
  return key.asymmetricKeyType === 'ec' ? 'sha256' : null;
}
