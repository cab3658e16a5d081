import {
  type Descriptor,
  type Manifest,
  maxManifestBytes,
  ociIndex,
  parseManifest,
} from '../content/manifest.ts';
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
    const index = fallbackIndex([...list, ...lost.map(({ descriptor }) => descriptor)], subject);
    await destination.putManifest(digestTag(subject), index, signal);
    await waitForConcurrentWriters(performance.now() - started, signal);
  }
}

function fallbackIndex(manifests: Descriptor[], subject: string): Manifest {
  const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: ociIndex, manifests }));
  if (bytes.length > maxManifestBytes) {
    throw new TransferError('permanent', `The list of referrers of ${subject} would be larger than 4 MiB.`);
  }
  return parseManifest(bytes, `list of the referrers of ${subject}`);
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
