import { createHash, createPublicKey, type KeyObject, verify } from 'node:crypto';

// The subset of OpenPGP (RFC 4880, RFC 9580) that verifies version 4 signatures; everything else is ignored.

export interface Packet {
  tag: number;
  body: Buffer;
}

/** A public key or subkey. */
export interface PublicKey {
  body: Buffer;
  createdMs: number;
  algorithm: number;
  key: KeyObject;
}

export interface PgpSignature {
  type: number;
  createdMs: number;
  /** Undefined: never. */
  expiresMs: number | undefined;
  /** Lifetime of the key that the signature is about, in milliseconds from its creation. */
  keyLifetimeMs: number | undefined;
  /** Usage flags of the key; undefined if absent. */
  keyFlags: number | undefined;
  /** The embedded signature with which a subkey claims its primary key. */
  embedded: Buffer | undefined;
  algorithm: number;
  hash: string;
  /** The hashed part of the signature. */
  hashed: Buffer;
  values: readonly Buffer[];
}

const maxPackets = 1000;

/** Decodes an armored block; undefined if there is none. */
export function unarmored(text: string, kind: string): Buffer | undefined {
  const block = new RegExp(`-----BEGIN ${kind}-----\\r?\\n(.*?)-----END ${kind}-----`, 's').exec(text)?.[1];
  if (block === undefined) return undefined;
  const lines = block.split(/\r?\n/);
  const start = lines.findIndex((line) => line.trim() === '') + 1;
  return Buffer.from(
    lines
      .slice(start)
      .filter((line) => !line.startsWith('='))
      .join(''),
    'base64',
  );
}

/** Splits bytes into packets. Throws for indefinite lengths and truncated packets. */
export function packetsIn(bytes: Buffer): Packet[] {
  const packets: Packet[] = [];
  let at = 0;
  while (at < bytes.length) {
    if (packets.length === maxPackets) throw new Error('it has too many packets');
    const head = bytes.readUInt8(at);
    if (head < 0x80) throw new Error('it is not an OpenPGP message');
    const isNew = head >= 0xc0;
    const [length, start] = isNew ? newLength(bytes, at + 1) : oldLength(bytes, at + 1, head & 3);
    if (start + length > bytes.length) throw new Error('a packet is truncated');
    packets.push({ tag: isNew ? head & 63 : (head >> 2) & 15, body: bytes.subarray(start, start + length) });
    at = start + length;
  }
  return packets;
}

function oldLength(bytes: Buffer, at: number, kind: number): [length: number, start: number] {
  const size = [1, 2, 4][kind];
  if (size === undefined) throw new Error('a packet has no definite length');
  return [bytes.readUIntBE(at, size), at + size];
}

function newLength(bytes: Buffer, at: number): [length: number, start: number] {
  const first = bytes.readUInt8(at);
  if (first < 192) return [first, at + 1];
  if (first < 224) return [((first - 192) << 8) + bytes.readUInt8(at + 1) + 192, at + 2];
  if (first < 255) throw new Error('a packet has no definite length');
  return [bytes.readUInt32BE(at + 1), at + 5];
}

/** A multiprecision integer without leading zeros, and its end offset. */
function integer(bytes: Buffer, at: number): [value: Buffer, end: number] {
  const end = at + 2 + Math.ceil(bytes.readUInt16BE(at) / 8);
  if (end > bytes.length) throw new Error('a number is truncated');
  return [bytes.subarray(at + 2, end), end];
}

const rsa = [1, 3];
const [ecdsa, oldEdDsa, ed25519] = [19, 22, 27];
const curves: Record<string, { crv: string; size: number }> = {
  '2a8648ce3d030107': { crv: 'P-256', size: 32 },
  '2b81040022': { crv: 'P-384', size: 48 },
  '2b81040023': { crv: 'P-521', size: 66 },
};
const oldEd25519 = '2b06010401da470f01';
const minModulusBytes = 256;

/** Parses a version 4 public key; undefined for other versions, for algorithms that cannot sign, and for weak ones. */
export function publicKeyIn(body: Buffer): PublicKey | undefined {
  if (body.readUInt8(0) !== 4) return undefined;
  const algorithm = body.readUInt8(5);
  const jwk = jwkOf(algorithm, body);
  if (jwk === undefined) return undefined;
  const key = createPublicKey({ key: jwk, format: 'jwk' });
  return { body, createdMs: body.readUInt32BE(1) * 1000, algorithm, key };
}

function jwkOf(algorithm: number, body: Buffer): Record<string, string> | undefined {
  const text = (value: Buffer) => value.toString('base64url');
  const start = 6;
  if (rsa.includes(algorithm)) {
    const [n, next] = integer(body, start);
    return n.length < minModulusBytes
      ? undefined
      : { kty: 'RSA', n: text(n), e: text(integer(body, next)[0]) };
  }
  if (algorithm === ed25519) return { kty: 'OKP', crv: 'Ed25519', x: text(body.subarray(start, start + 32)) };
  if (algorithm !== ecdsa && algorithm !== oldEdDsa) return undefined;
  const curveEnd = start + 1 + body.readUInt8(start);
  const curve = body.toString('hex', start + 1, curveEnd);
  const [point] = integer(body, curveEnd);
  if (algorithm === oldEdDsa)
    return curve === oldEd25519 && point.length === 33 && point[0] === 0x40
      ? { kty: 'OKP', crv: 'Ed25519', x: text(point.subarray(1)) }
      : undefined;
  const { crv, size } = curves[curve] ?? {};
  if (crv === undefined || size === undefined || point.length !== 1 + 2 * size || point[0] !== 4)
    return undefined;
  return { kty: 'EC', crv, x: text(point.subarray(1, 1 + size)), y: text(point.subarray(1 + size)) };
}

/** Without SHA-1 and MD5, which are not collision resistant. */
const hashes: Record<number, string> = { 8: 'sha256', 9: 'sha384', 10: 'sha512' };

/** Parses a version 4 signature; undefined for other versions, for weak hashes, and for unknown critical subpackets. */
export function signatureIn(body: Buffer): PgpSignature | undefined {
  if (body.readUInt8(0) !== 4) return undefined;
  const hash = hashes[body.readUInt8(3)];
  const hashedEnd = 6 + body.readUInt16BE(4);
  const unhashedEnd = hashedEnd + 2 + body.readUInt16BE(hashedEnd);
  if (hash === undefined || unhashedEnd > body.length) return undefined;
  const hashedSubpackets = subpackets(body.subarray(6, hashedEnd));
  const unhashedSubpackets = subpackets(body.subarray(hashedEnd + 2, unhashedEnd));
  if (
    [...hashedSubpackets, ...unhashedSubpackets].some(
      ({ type, critical }) => critical && !knownSubpackets.has(type),
    )
  )
    return undefined;
  const find = (type: number) => hashedSubpackets.find((each) => each.type === type)?.value;
  const seconds = (type: number) => find(type)?.readUInt32BE(0);
  const created = seconds(2);
  if (created === undefined) return undefined;
  const [expires, lifetime] = [seconds(3), seconds(9)];
  return {
    type: body.readUInt8(1),
    createdMs: created * 1000,
    // Zero means never.
    expiresMs: expires ? (created + expires) * 1000 : undefined,
    keyLifetimeMs: lifetime ? lifetime * 1000 : undefined,
    keyFlags: find(27)?.at(0),
    // It proves itself, so the unhashed area may hold it.
    embedded: find(32) ?? unhashedSubpackets.find(({ type }) => type === 32)?.value,
    algorithm: body.readUInt8(2),
    hash,
    hashed: body.subarray(0, hashedEnd),
    values: valuesOf(body.readUInt8(2), body.subarray(unhashedEnd + 2)),
  };
}

/** Times, revocability, preferences, issuers, key flags, reasons, features, embedded signatures; no notations. */
const knownSubpackets = new Set([2, 3, 7, 9, 11, 16, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 32, 33, 34]);

function subpackets(bytes: Buffer): { type: number; critical: boolean; value: Buffer }[] {
  const found = [];
  let at = 0;
  while (at < bytes.length) {
    const first = bytes.readUInt8(at);
    const isLong = first >= 192 && first < 255;
    // Two-byte lengths reach higher here than in packets.
    const length =
      first === 255
        ? bytes.readUInt32BE(at + 1)
        : isLong
          ? ((first - 192) << 8) + bytes.readUInt8(at + 1) + 192
          : first;
    const start = at + (first === 255 ? 5 : isLong ? 2 : 1);
    at = start + length;
    if (length === 0 || at > bytes.length) throw new Error('a subpacket is truncated');
    const head = bytes.readUInt8(start);
    found.push({ type: head & 127, critical: head >= 128, value: bytes.subarray(start + 1, at) });
  }
  return found;
}

function valuesOf(algorithm: number, bytes: Buffer): Buffer[] {
  if (algorithm === ed25519) return [bytes.subarray(0, 64)];
  const [first, next] = integer(bytes, 0);
  return rsa.includes(algorithm) ? [first] : [first, integer(bytes, next)[0]];
}

/** Verifies that the key `by` made the signature over `content`. */
export function isSignedByKey(
  { algorithm, hash, hashed, values }: PgpSignature,
  by: PublicKey,
  content: Buffer,
): boolean {
  if (algorithm !== by.algorithm) return false;
  const trailer = Buffer.alloc(6, Buffer.from([4, 0xff]));
  trailer.writeUInt32BE(hashed.length, 2);
  const message = Buffer.concat([content, hashed, trailer]);
  const sized = (size: number) =>
    Buffer.concat(
      values.map((value) => Buffer.concat([Buffer.alloc(Math.max(0, size - value.length)), value])),
    );
  const { key } = by;
  if (rsa.includes(algorithm))
    return verify(hash, message, key, sized((key.asymmetricKeyDetails?.modulusLength ?? 0) / 8));
  if (algorithm === ecdsa) {
    const size =
      { prime256v1: 32, secp384r1: 48, secp521r1: 66 }[key.asymmetricKeyDetails?.namedCurve ?? ''] ?? 0;
    return verify(hash, message, { key, dsaEncoding: 'ieee-p1363' }, sized(size));
  }
  // Ed25519 signs the hash itself.
  return verify(null, createHash(hash).update(message).digest(), key, sized(algorithm === ed25519 ? 64 : 32));
}
