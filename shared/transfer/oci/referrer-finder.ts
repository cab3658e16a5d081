import type { ContentSource, Referrer } from '../content/content.ts';
import { type Descriptor, type Manifest, ociIndex } from '../content/manifest.ts';
import { createManifestBounds } from '../content/manifest-bounds.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { attachedTags, digestTag } from '../reference/digest.ts';
import type { Repository } from './repository.ts';

export type ReferrerFinder = ContentSource['findReferrers'];

/** From this subject on, the tags are listed once, which costs less than a HEAD for each possible tag. */
const subjectsBeforeList = 2;

/**
 * The list of referrers under the fallback tag of `digest`. Some registries return the image itself for that tag, so the subject does not
 * count. `foreign` is a manifest under the tag that is neither the subject nor an index.
 */
export async function fallbackList(
  repository: Repository,
  digest: string,
  signal: AbortSignal,
): Promise<{ list: Descriptor[]; foreign?: Manifest }> {
  const found = await repository.manifest(digestTag(digest), signal);
  if (!found || found.digest === digest) return { list: [] };
  return found.mediaType === ociIndex ? { list: found.children } : { list: [], foreign: found };
}

/** Returns a finder of a manifest's referrers: by the referrers API or the fallback tag, and by cosign's tags. */
export function createReferrerFinder(source: Repository): ReferrerFinder {
  // Shared by all subjects: whoever may push to the repository can attach thousands to each of them.
  const bounds = createManifestBounds(source.place);
  let subjects = 0;
  let listing: Promise<ReadonlySet<string> | undefined> | undefined;

  /**
   * False if the registry is known not to have the tag. A list with several pages is not read, and a list without the tag that is being
   * copied is stale, such as that of a cache.
   */
  async function mayHave(tag: string, signal: AbortSignal): Promise<boolean> {
    const { tag: own } = source.address;
    if (own === undefined) return true;
    if (source.known.tags === undefined && subjects > subjectsBeforeList)
      listing ??= source.singlePageOfTags(signal).then((tags) => tags && new Set(tags));
    const tags = source.known.tags ?? (await listing);
    return tags === undefined || !tags.has(own) || tags.has(tag);
  }

  async function list(
    digest: string,
    warn: (text: string) => void,
    signal: AbortSignal,
  ): Promise<Descriptor[]> {
    const byApi = source.known.lacksReferrers ? undefined : await source.referrers(digest, signal);
    if (byApi) return byApi;
    source.known.lacksReferrers = true;
    if (!(await mayHave(digestTag(digest), signal))) return [];
    const { list, foreign } = await fallbackList(source, digest, signal);
    if (foreign)
      warn(
        `${foreign.digest} under tag ${digestTag(digest)} should list the referrers of ${digest}, but is no index; not copied`,
      );
    return list;
  }

  async function listed(
    subject: Manifest,
    warn: (text: string) => void,
    signal: AbortSignal,
  ): Promise<Referrer[]> {
    const found: Referrer[] = [];
    for (const { digest } of await list(subject.digest, warn, signal)) {
      bounds.next();
      const manifest = await source.manifest(digest, signal);
      if (!manifest) throw lostError('lists', digest, subject);
      // Anybody who may push a tag can write a fallback list, and some registries list manifests that only a tag relates to the
      // subject; other registries would not list those.
      if (manifest.subject !== subject.digest) {
        warn(`${digest} is listed as a referrer of ${subject.digest} but does not refer to it; not copied`);
      } else {
        bounds.add(manifest);
        found.push({ manifest });
      }
    }
    return found;
  }

  async function attached(subject: Manifest, signal: AbortSignal): Promise<Referrer[]> {
    const tags = attachedTags(subject.digest);
    const found = await Promise.all(tags.map((tag) => attachment(tag, subject, signal)));
    return found.filter((each) => each !== undefined);
  }

  async function attachment(
    tag: string,
    subject: Manifest,
    signal: AbortSignal,
  ): Promise<Referrer | undefined> {
    if (!(await mayHave(tag, signal))) return undefined;
    const digest = await source.head(tag, signal);
    if (digest === undefined || digest === subject.digest) return undefined;
    const manifest = await source.manifest(digest, signal);
    if (!manifest) throw lostError(`has, under tag ${tag},`, digest, subject);
    bounds.add(manifest);
    return manifest.digest === subject.digest ? undefined : { manifest, tag };
  }

  function lostError(has: string, digest: string, subject: Manifest): TransferError {
    const { host, repository } = source.address;
    const text = `Registry ${host} ${has} ${digest} as a referrer (signature, SBOM or attestation) of ${subject.digest} in repository ${repository}, but does not serve it, so it would be lost: push it again, or remove it from the list.`;
    return new TransferError('permanent', text);
  }

  return async (subject, warn, signal) => {
    subjects += 1;
    return (await Promise.all([listed(subject, warn, signal), attached(subject, signal)])).flat();
  };
}
