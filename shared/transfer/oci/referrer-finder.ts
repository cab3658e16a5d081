import { TransferError } from '../errors/transfer-error.ts';
import { digestTag } from '../reference/digest.ts';
import type { Descriptor, Manifest } from './manifest.ts';
import type { Repository } from './repository.ts';

/** A manifest about another one; with `tag` if it was found by a tag of its own instead of a list. */
export interface Found {
  manifest: Manifest;
  tag?: string;
}

export type ReferrerFinder = (subject: Manifest, signal: AbortSignal) => Promise<Found[]>;

/** No registry has the tags that a SHA-512 digest would need. */
const longestTag = 128;
const cosignSuffixes = ['sig', 'att', 'sbom'];

/**
 * The list under the fallback tag of `digest`. Some registries answer that tag with the image itself: only an index
 * that is not the subject counts. `trusted` false: something else is there.
 */
export async function fallbackList(
  repository: Repository,
  digest: string,
  signal: AbortSignal,
): Promise<{ list: Descriptor[]; trusted: boolean }> {
  const found = await repository.manifest(digestTag(digest), signal);
  if (!found) return { list: [], trusted: true };
  const isList = found.digest !== digest && found.mediaType.includes('index');
  return { list: isList ? found.children : [], trusted: isList };
}

/** Finds everything that refers to a manifest at the source: by API, else by fallback tag, and by cosign's tags. */
export function createReferrerFinder(source: Repository, warnings: string[]): ReferrerFinder {
  let hasApi = true;

  async function list(digest: string, signal: AbortSignal): Promise<Descriptor[]> {
    const byApi = hasApi ? await source.referrers(digest, signal) : undefined;
    if (byApi) return byApi;
    hasApi = false;
    return (await fallbackList(source, digest, signal)).list;
  }

  async function listed(subject: Manifest, signal: AbortSignal): Promise<Found[]> {
    const found: Found[] = [];
    for (const { digest } of await list(subject.digest, signal)) {
      const manifest = await source.manifest(digest, signal);
      if (!manifest) {
        const text = `Registry ${source.place.host} lists ${digest} as a referrer (signature, SBOM or attestation) of ${subject.digest} in repository ${source.place.repository}, but does not have it: it would be lost. Push it again or remove it there.`;
        throw new TransferError('permanent', text);
      }
      // Anybody who may push a tag can write a fallback list, and some registries list what only a tag ties to the subject:
      // no other registry would ever list that.
      if (manifest.subject !== subject.digest) {
        warnings.push(`${digest} is listed as a referrer of ${subject.digest} but is not about it; left out`);
      } else {
        found.push({ manifest });
      }
    }
    return found;
  }

  async function attached(subject: Manifest, signal: AbortSignal): Promise<Found[]> {
    const tags = cosignSuffixes
      .map((suffix) => `${digestTag(subject.digest)}.${suffix}`)
      .filter((tag) => tag.length <= longestTag);
    const found = await Promise.all(tags.map((tag) => attachment(tag, subject, signal)));
    return found.filter((each) => each !== undefined);
  }

  async function attachment(tag: string, subject: Manifest, signal: AbortSignal): Promise<Found | undefined> {
    const digest = await source.head(tag, signal);
    if (digest === undefined || digest === subject.digest) return undefined;
    const manifest = await source.manifest(digest, signal);
    return manifest && manifest.digest !== subject.digest ? { manifest, tag } : undefined;
  }

  return async (subject, signal) => [
    ...(await listed(subject, signal)),
    ...(await attached(subject, signal)),
  ];
}
