import { mapBounded } from '#shared/base/async';
import { TransferError } from '../errors/transfer-error.ts';
import type { ContentSource, Referrer } from './content.ts';
import { type Descriptor, isManifestType, type Manifest } from './manifest.ts';
import { artifactTooLarge, createManifestBounds } from './manifest-bounds.ts';

/** The whole content of one artifact, read from the source before anything is written. */
export interface CopyPlan {
  root: Manifest;
  /** Every manifest once, after the manifests that it lists or refers to. */
  manifests: Manifest[];
  /** Every blob once. */
  blobs: Descriptor[];
  /** Signatures, SBOMs and attestations, with the manifest that each refers to. */
  referrers: { subject: string; manifest: Manifest }[];
  /** Attachments under tags derived from a digest, as older cosign versions write them. */
  tagged: { tag: string; manifest: Manifest }[];
  warnings: string[];
}

/** Returns the bytes of all blobs and manifests. */
export function bytesOf({ blobs, manifests }: Pick<CopyPlan, 'blobs' | 'manifests'>): number {
  const sizes = [...blobs.map(({ size }) => size), ...manifests.map(({ bytes }) => bytes.length)];
  return sizes.reduce((total, each) => total + each, 0);
}

const parallel = 4;
const maxDepth = 8;

/** Reads an artifact with all platforms and referrers. Rejects with a TransferError. */
export async function planCopy(source: ContentSource, signal: AbortSignal): Promise<CopyPlan> {
  const known = new Map<string, Manifest>();
  const pending = new Map<string, Promise<void>>();
  const warnings: string[] = [];
  const warn = (text: string): number => warnings.push(text);
  const plan: Omit<CopyPlan, 'root' | 'blobs'> = { manifests: [], referrers: [], tagged: [], warnings };
  const bounds = createManifestBounds(source.place);

  async function add(manifest: Manifest, depth: number): Promise<void> {
    if (known.has(manifest.digest)) return;
    if (depth > maxDepth)
      throw artifactTooLarge(source.place, `it is nested more than ${maxDepth} levels deep`);
    bounds.next();
    bounds.add(manifest);
    known.set(manifest.digest, manifest);
    for (const layer of manifest.foreign) {
      warnings.push(
        `Layer ${layer.digest} may not be distributed and is not copied: ${layer.urls?.[0] ?? 'it has no URL'}`,
      );
    }
    await mapBounded(manifest.children, parallel, signal, (child) => addChild(child, manifest, depth + 1));
    plan.manifests.push(manifest);
  }

  async function addChild(child: Descriptor, parent: Manifest, depth: number): Promise<void> {
    const inFlight = pending.get(child.digest);
    if (inFlight !== undefined) return inFlight;
    const work = (async () => {
      const manifest = await source.manifest(child.digest, signal, child.mediaType);
      if (!manifest && !isManifestType(child.mediaType)) {
        // Build caches list their layers in an index (OCI image index: other media types may appear).
        parent.blobs.push(child);
        return;
      }
      if (!manifest) {
        throw new TransferError(
          'permanent',
          `Index ${parent.digest} of ${source.place} lists manifest ${child.digest}, which does not exist: push the image to the source again.`,
        );
      }
      await add(manifest, depth);
    })();
    pending.set(child.digest, work);
    return work;
  }

  async function addReferrer(referrer: Referrer, subject: string, depth: number): Promise<void> {
    await add(referrer.manifest, depth);
    if (referrer.tag !== undefined) plan.tagged.push({ tag: referrer.tag, manifest: referrer.manifest });
    else plan.referrers.push({ subject, manifest: referrer.manifest });
  }

  const root = await source.root(signal);
  await add(root, 0);
  let round = [...plan.manifests];
  for (let depth = 1; round.length > 0; depth += 1) {
    const before = new Set(plan.manifests);
    const found = await mapBounded(round, parallel, signal, async (subject, sub) => ({
      subject,
      list: await source.findReferrers(subject, warn, sub),
    }));
    for (const { subject, list } of found)
      for (const each of list) await addReferrer(each, subject.digest, depth);
    // Referrers can have referrers, such as the signature of an SBOM.
    round = plan.manifests.filter((manifest) => !before.has(manifest));
  }
  const blobs = new Map(
    plan.manifests.flatMap((manifest) => manifest.blobs.map((blob) => [blob.digest, blob] as const)),
  );
  return { ...plan, root, blobs: [...blobs.values()] };
}
