import { createHash, type Hash } from 'node:crypto';
import { isDigest } from '#shared/domain/address';
import { TransferError } from '../errors/transfer-error.ts';

export { isDigest };

/** A running hash for the algorithm of `digest`; throws a permanent TransferError for an unknown kind of digest. */
export function hashFor(digest: string): Hash {
  if (!isDigest(digest)) {
    throw new TransferError('permanent', `"${digest.slice(0, 160)}" is not a sha256 or sha512 digest.`);
  }
  return createHash(digest.slice(0, digest.indexOf(':')));
}

/** The digest of `bytes` by the algorithm of `like` (a digest), or by SHA-256. */
export function digestOf(bytes: Uint8Array, like = 'sha256:'): string {
  const algorithm = like.slice(0, like.indexOf(':'));
  return `${algorithm}:${createHash(algorithm).update(bytes).digest('hex')}`;
}

const maxTagLength = 128;
const cosignSuffixes = ['sig', 'att', 'sbom'];

/** The tag `sha256-<hex>` of a digest, under which fallback referrers and cosign attachments are stored; cut to the length of a tag. */
export function digestTag(digest: string): string {
  return digest.replace(':', '-').slice(0, maxTagLength);
}

/** What several clients write together under such a tag: the list of referrers of a digest, or what cosign attaches to it. Undefined for any other tag. */
export function sharedTagKind(tag: string): 'referrers' | 'attachment' | undefined {
  const [named, suffix] =
    /^(?:sha256-[0-9a-f]{64}(\.(?:sig|att|sbom))?|sha512-[0-9a-f]{121})$/.exec(tag) ?? [];
  if (named === undefined) return undefined;
  return suffix === undefined ? 'referrers' : 'attachment';
}

/** The tags under which older cosign versions keep what belongs to a digest. Of a SHA-512 digest they would be longer than a tag can be: there are none. */
export function attachedTags(digest: string): string[] {
  const tag = digestTag(digest);
  return cosignSuffixes.map((suffix) => `${tag}.${suffix}`).filter(({ length }) => length <= maxTagLength);
}
