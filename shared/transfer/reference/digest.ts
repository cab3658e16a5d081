import { createHash, type Hash } from 'node:crypto';
import { isDigest } from '#shared/domain/address';
import { TransferError } from '../errors/transfer-error.ts';

export { isDigest };

/** Creates a hash with the algorithm of `digest`. Throws a permanent TransferError for an invalid digest. */
export function hashFor(digest: string): Hash {
  if (!isDigest(digest)) {
    throw new TransferError('permanent', `"${digest.slice(0, 160)}" is not a sha256 or sha512 digest.`);
  }
  return createHash(digest.slice(0, digest.indexOf(':')));
}

/** The digest of `bytes` with the algorithm of the digest `like`, by default SHA-256. */
export function digestOf(bytes: Uint8Array, like = 'sha256:'): string {
  const algorithm = like.slice(0, like.indexOf(':'));
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`;
}

const maxTagLength = 128;
const cosignSuffixes = ['sig', 'att', 'sbom'];

/** The tag `sha256-<hex>` of a digest, for fallback referrers and cosign attachments; truncated to the maximum length of a tag. */
export function digestTag(digest: string): string {
  return digest.replace(':', '-').slice(0, maxTagLength);
}

/** What several clients maintain under such a tag: a list of referrers, or a cosign attachment. Undefined for any other tag. */
export function sharedTagKind(tag: string): 'referrers' | 'attachment' | undefined {
  const [named, suffix] =
    /^(?:sha256-[0-9a-f]{64}(\.(?:sig|att|sbom))?|sha512-[0-9a-f]{121})$/.exec(tag) ?? [];
  if (named === undefined) return undefined;
  return suffix === undefined ? 'referrers' : 'attachment';
}

/** The tags of cosign attachments of a digest; none for SHA-512, whose tags would exceed the maximum length. */
export function attachedTags(digest: string): string[] {
  const tag = digestTag(digest);
  return cosignSuffixes.map((suffix) => `${tag}.${suffix}`).filter(({ length }) => length <= maxTagLength);
}
