import { mapBounded } from '#shared/async';
import { TransferError } from '../errors/transfer-error.ts';
import { type Descriptor, isManifestType, type Manifest } from '../oci/manifest.ts';
import { createReferrerFinder, type Found } from '../oci/referrer-finder.ts';
import type { Repository } from '../oci/repository.ts';

/** Everything that belongs to one image, read from the source before anything is written. */
export interface CopyPlan {
  root: Manifest;
  /** Every manifest once; what another one lists or is about comes before it. */
  manifests: Manifest[];
  /** Every blob once. */
  blobs: Descriptor[];
  /** Which manifests are about which: signatures, SBOMs, attestations. */
  referrers: { subject: string; manifest: Manifest }[];
  /** Attachments found by a tag made of the digest, as older cosign versions leave them. */
  tagged: { tag: string; manifest: Manifest }[];
  warnings: string[];
}

const width = 4;
const mostManifests = 2000;
const mostBytes = 64 * 1024 * 1024;
const deepest = 8;

/** Reads the image `reference` with all platforms and all that refers to it. Rejects with a TransferError. */
export async function planCopy(
  source: Repository,
  reference: string,
  signal: AbortSignal,
): Promise<CopyPlan> {
  const { host, repository } = source.place;
  const known = new Map<string, Manifest>();
  const pending = new Map<string, Promise<void>>();
  const warnings: string[] = [];
  const plan: Omit<CopyPlan, 'root' | 'blobs'> = { manifests: [], referrers: [], tagged: [], warnings };
  let bytes = 0;

  function guard(manifest: Manifest, depth: number): void {
    bytes += manifest.bytes.length;
    if (depth > deepest) throw tooMuch(`it is nested more than ${deepest} deep`);
    if (known.size >= mostManifests) throw tooMuch(`it has more than ${mostManifests} manifests`);
    if (bytes > mostBytes) throw tooMuch('its manifests are larger than 64 MiB together');
  }

  function tooMuch(why: string): TransferError {
    return new TransferError(
      'permanent',
      `The image ${reference} of ${host}/${repository} is not copied: ${why}.`,
    );
  }

  async function take(manifest: Manifest, depth: number): Promise<void> {
    if (known.has(manifest.digest)) return;
    guard(manifest, depth);
    known.set(manifest.digest, manifest);
    for (const layer of manifest.foreign) {
      warnings.push(
        `Layer ${layer.digest} may not be distributed and stays where it is: ${layer.urls?.[0] ?? 'no address given'}`,
      );
    }
    await mapBounded(manifest.children, width, signal, (child) => takeChild(child, manifest, depth + 1));
    plan.manifests.push(manifest);
  }

  async function takeChild(child: Descriptor, parent: Manifest, depth: number): Promise<void> {
    const underWay = pending.get(child.digest);
    if (underWay !== undefined) return underWay;
    const work = (async () => {
      const manifest = await source.manifest(child.digest, signal);
      if (!manifest && !isManifestType(child.mediaType)) {
        // Build caches list their layers in an index (OCI image index: other media types may appear).
        parent.blobs.push(child);
        return;
      }
      if (!manifest) {
        throw new TransferError(
          'permanent',
          `Index ${parent.digest} in ${host}/${repository} lists manifest ${child.digest}, which is not there: have the image pushed to the source anew.`,
        );
      }
      await take(manifest, depth);
    })();
    pending.set(child.digest, work);
    return work;
  }

  async function takeFound(found: Found, subject: string, depth: number): Promise<void> {
    await take(found.manifest, depth);
    if (found.tag !== undefined) plan.tagged.push({ tag: found.tag, manifest: found.manifest });
    else plan.referrers.push({ subject, manifest: found.manifest });
  }

  const root = await source.manifest(reference, signal);
  if (!root) {
    throw new TransferError(
      'permanent',
      `Image ${repository}:${reference} is not in registry ${host} (404): check image name, tag and remoteURL; some registries also answer so when the account may not see the repository.`,
    );
  }
  await take(root, 0);
  const finder = createReferrerFinder(source, warnings);
  let round = [...plan.manifests];
  for (let depth = 1; round.length > 0; depth += 1) {
    const before = new Set(plan.manifests);
    const found = await mapBounded(round, width, signal, async (subject, sub) => ({
      subject,
      list: await finder(subject, sub),
    }));
    for (const { subject, list } of found)
      for (const each of list) await takeFound(each, subject.digest, depth);
    // What refers to a referrer (a signature of an SBOM) belongs to the image as well.
    round = plan.manifests.filter((manifest) => !before.has(manifest));
  }
  const blobs = new Map(
    plan.manifests.flatMap((manifest) => manifest.blobs.map((blob) => [blob.digest, blob] as const)),
  );
  return { ...plan, root, blobs: [...blobs.values()] };
}
