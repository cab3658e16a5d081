import {
  isSignedByKey,
  type Packet,
  type PgpSignature,
  type PublicKey,
  packetsIn,
  publicKeyIn,
  signatureIn,
  unarmored,
} from './openpgp-packets.ts';

const tags = { signature: 2, publicKey: 6, userId: 13, subkey: 14 };
const types = {
  binary: 0,
  text: 1,
  binding: 0x18,
  back: 0x19,
  direct: 0x1f,
  revoked: 0x20,
  subkeyRevoked: 0x28,
};
const certifications = [0x10, 0x11, 0x12, 0x13];
const signs = 0x02;
/** Tolerance for the clocks of signers. */
const skewMs = 24 * 3_600_000;

/** A key of a keyring that may sign, and its expiry. */
export interface SigningKey {
  key: PublicKey;
  untilMs: number;
}

/**
 * Returns the signing keys of an armored keyring: primary keys, and subkeys that their primary key binds and that claim it. Revoked keys and
 * keys without a self-signature are skipped. Throws an Error if it is not a keyring.
 */
export function signingKeys(armored: string): SigningKey[] {
  const bytes = unarmored(armored, 'PGP PUBLIC KEY BLOCK');
  if (bytes === undefined) throw new Error('it is not an armored public key');
  const keys: Packet[][] = [];
  for (const packet of packetsIn(bytes)) {
    if (packet.tag === tags.publicKey) keys.push([packet]);
    else keys.at(-1)?.push(packet);
  }
  return keys.flatMap(keysOf);
}

/** The signing keys of one primary key and the packets that follow it. */
function keysOf([first, ...others]: Packet[]): SigningKey[] {
  const primary = first && publicKeyIn(first.body);
  if (primary === undefined) return [];
  const { own, subkeys } = signedBy(primary, others);
  const selfSignature = latest(own, [types.direct, ...certifications]);
  if (selfSignature === undefined || own.some(({ type }) => type === types.revoked)) return [];
  const untilMs = expiryOf(primary, selfSignature);
  const bound = subkeys.flatMap((subkey) => boundKey(primary, subkey, untilMs) ?? []);
  return (selfSignature.keyFlags ?? signs) & signs ? [{ key: primary, untilMs }, ...bound] : bound;
}

interface Subkey {
  body: Buffer;
  signatures: PgpSignature[];
}

/** The signatures made by a primary key: self-signatures, and those of its subkeys. */
function signedBy(
  primary: PublicKey,
  packets: readonly Packet[],
): { own: PgpSignature[]; subkeys: Subkey[] } {
  const own: PgpSignature[] = [];
  const subkeys: Subkey[] = [];
  let about: Packet | undefined;
  for (const packet of packets) {
    if (packet.tag === tags.subkey) subkeys.push({ body: packet.body, signatures: [] });
    if (packet.tag !== tags.signature) {
      about = packet;
      continue;
    }
    const signature = signatureIn(packet.body);
    const content = signature && signedContent(primary, about, signature.type);
    if (signature === undefined || content === undefined || !isSignedByKey(signature, primary, content))
      continue;
    (about?.tag === tags.subkey ? subkeys.at(-1)?.signatures : own)?.push(signature);
  }
  return { own, subkeys };
}

/** A signing subkey with a binding signature of the primary key and a back signature of its own. */
function boundKey(primary: PublicKey, { body, signatures }: Subkey, untilMs: number): SigningKey | undefined {
  const key = publicKeyIn(body);
  const binding = latest(signatures, [types.binding]);
  const isRevoked = signatures.some(({ type }) => type === types.subkeyRevoked);
  if (key === undefined || binding?.embedded === undefined || isRevoked) return undefined;
  const back = signatureIn(binding.embedded);
  const isClaimed =
    back?.type === types.back &&
    isSignedByKey(back, key, Buffer.concat([framed(primary.body), framed(body)]));
  const maySign = ((binding.keyFlags ?? 0) & signs) !== 0;
  return isClaimed && maySign ? { key, untilMs: Math.min(untilMs, expiryOf(key, binding)) } : undefined;
}

/** The content that a signature in a keyring covers; undefined for signatures about something else. */
function signedContent(primary: PublicKey, about: Packet | undefined, type: number): Buffer | undefined {
  const key = framed(primary.body);
  if (type === types.direct || type === types.revoked) return about === undefined ? key : undefined;
  if (type === types.binding || type === types.subkeyRevoked)
    return about?.tag === tags.subkey ? Buffer.concat([key, framed(about.body)]) : undefined;
  if (!certifications.includes(type) || about?.tag !== tags.userId) return undefined;
  const head = Buffer.from([0xb4, 0, 0, 0, 0]);
  head.writeUInt32BE(about.body.length, 1);
  return Buffer.concat([key, head, about.body]);
}

function framed(body: Buffer): Buffer {
  const head = Buffer.from([0x99, 0, 0]);
  head.writeUInt16BE(body.length, 1);
  return Buffer.concat([head, body]);
}

function latest(signatures: readonly PgpSignature[], wanted: readonly number[]): PgpSignature | undefined {
  return signatures
    .filter(({ type }) => wanted.includes(type))
    .toSorted((a, b) => b.createdMs - a.createdMs)
    .at(0);
}

function expiryOf(
  { createdMs }: PublicKey,
  { keyLifetimeMs, expiresMs = Number.POSITIVE_INFINITY }: PgpSignature,
): number {
  return Math.min(
    expiresMs,
    keyLifetimeMs === undefined ? Number.POSITIVE_INFINITY : createdMs + keyLifetimeMs,
  );
}

/**
 * Returns the text of a cleartext-signed message (RFC 9580, 7) signed by one of the keys, or why the signature is refused. Expired keys and
 * signatures are refused, as by Helm.
 */
export function verifyClearsigned(
  message: string,
  keys: readonly SigningKey[],
  nowMs: number,
): { text: string } | { refused: string } {
  const [, body] =
    /^-----BEGIN PGP SIGNED MESSAGE-----\r?\n(?:Hash: [^\r\n]*\r?\n)*\r?\n(.*?)\r?\n-----BEGIN PGP SIGNATURE-----/s.exec(
      message,
    ) ?? [];
  const bytes = unarmored(message, 'PGP SIGNATURE');
  if (body === undefined || bytes === undefined) return { refused: 'it is not a cleartext-signed message' };
  const lines = body.split(/\r?\n/).map((line) => line.replace(/^- /, '').replace(/[ \t\r]+$/, ''));
  const content = Buffer.from(lines.join('\r\n'));
  const found = packetsIn(bytes)
    .filter(({ tag }) => tag === tags.signature)
    .flatMap((packet) => signatureIn(packet.body) ?? [])
    .filter(({ type }) => type === types.text || type === types.binary);
  let refused = 'no key of the keyring has signed it';
  for (const signature of found)
    for (const { key, untilMs } of keys) {
      if (!isSignedByKey(signature, key, content)) continue;
      const { createdMs, expiresMs = Number.POSITIVE_INFINITY } = signature;
      if (createdMs < key.createdMs || createdMs > nowMs + skewMs) refused = 'its time is wrong';
      else if (expiresMs <= nowMs) refused = 'its signature has expired';
      else if (untilMs <= nowMs) refused = 'its key has expired';
      else return { text: lines.join('\n') };
    }
  return { refused };
}
