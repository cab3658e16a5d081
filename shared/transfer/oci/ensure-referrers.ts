import type { Descriptor, Manifest } from '../content/manifest.ts';
import { referrerList } from '../content/referrer-list.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { digestTag } from '../reference/digest.ts';
import { maxTagWrites, waitForConcurrentWriters } from './concurrent-writers.ts';
import { fallbackList } from './referrer-finder.ts';
import type { Repository } from './repository.ts';

/**
 * Makes sure that the destination lists `referrers` for `subject`: in its referrers API or, without that API, in the index under the
 * fallback tag, which this function writes. Rejects with a TransferError if a referrer would be lost.
 */
export async function ensureReferrers(
  destination: Repository,
  subject: string,
  referrers: readonly Manifest[],
  signal: AbortSignal,
): Promise<void> {
  const byApi = await destination.referrers(subject, signal);
  if (byApi) {
    const lost = missing(byApi, referrers);
    // An older version of the registry may have stored a referrer without listing it; pushing it again lists it.
    for (const manifest of lost) await destination.putManifest(manifest.digest, manifest, signal);
    if (lost.length === 0) return;
    const again = await destination.referrers(subject, signal);
    const first = missing(again ?? [], referrers)[0];
    if (first) throw lostReferrer(destination, subject, first);
    return;
  }
  await ensureFallback(destination, subject, referrers, signal);
}

function missing(list: readonly Descriptor[], referrers: readonly Manifest[]): Manifest[] {
  const listed = new Set(list.map(({ digest }) => digest));
  return referrers.filter(({ digest }) => !listed.has(digest));
}

/** Another client may write the tag concurrently, so the tag is read back until it lists every referrer. */
async function ensureFallback(
  destination: Repository,
  subject: string,
  referrers: readonly Manifest[],
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    const started = performance.now();
    const { list, foreign } = await fallbackList(destination, subject, signal);
    if (foreign) throw foreignList(destination, subject, foreign);
    const lost = missing(list, referrers);
    const first = lost[0];
    if (!first) return;
    if (attempt >= maxTagWrites) throw lostReferrer(destination, subject, first);
    await destination.putManifest(digestTag(subject), referrerList(subject, list, lost), signal);
    await waitForConcurrentWriters(performance.now() - started, signal);
  }
}

/** Whoever pushed this manifest may need it, and referrers cannot be added to it. */
function foreignList(
  { address }: Repository,
  subject: string,
  { digest, mediaType }: Manifest,
): TransferError {
  const { host, repository } = address;
  const tag = digestTag(subject);
  const text = `Tag ${tag} in repository ${repository} of registry ${host} should list signatures, SBOMs and attestations, but holds ${digest}, a ${mediaType}: it was not overwritten. Delete the tag, or move its content to another tag.`;
  return new TransferError('permanent', text);
}

function lostReferrer(destination: Repository, subject: string, referrer: Manifest): TransferError {
  const { host, repository } = destination.address;
  const text = `Registry ${host} stored ${referrer.digest} but does not list it as a referrer (signature, SBOM or attestation) of ${subject} in repository ${repository}, so it would be lost: check that the registry supports OCI referrers or index tags.`;
  return new TransferError('permanent', text);
}
