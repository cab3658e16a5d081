import { mapBounded } from '#shared/base/async';
import type { ContentSink, ContentSource } from '../content/content.ts';
import type { Descriptor, Manifest } from '../content/manifest.ts';
import type { CopyPlan } from '../content/plan.ts';
import { TransferError } from '../errors/transfer-error.ts';
import type { RetryPolicy } from '../http/retry.ts';
import { sharedTagKind } from '../reference/digest.ts';
import { copyBlob } from './copy-blob.ts';
import type { CopyProgress } from './copy-progress.ts';
import { ensureAttachment, tagOnlyAttachments } from './ensure-attachment.ts';
import type { Repaired } from './in-session.ts';
import { createLargeBlobLimiter } from './large-blob-limiter.ts';

const parallel = 8;
/** Concurrent large blobs, once the destination turns out to be slow. */
const parallelLarge = 4;
const largeBytes = 32 * 1024 * 1024;

const lanes = Array.from({ length: parallel }, (_, lane) => lane);

export interface CopyContext {
  plan: CopyPlan;
  source: ContentSource;
  destination: ContentSink;
  /** The current digest of the destination's tag before the copy; undefined if there is no such tag. */
  before: string | undefined;
  /** True: a manifest at the destination is no proof that its blobs exist. */
  verify: boolean;
  /** True: the destination alone verifies large blobs. */
  unhashed: boolean;
  retry: RetryPolicy;
  folder: string;
  copyProgress: CopyProgress;
  signal: AbortSignal;
}

/**
 * Copies blobs, then manifests (children before their index), then links the referrers; the tag is last. Resolves with the number of
 * manifests and blobs that the destination had lost.
 */
export async function copyContent(copying: CopyContext): Promise<Repaired> {
  const { plan, source, destination, before, verify, unhashed, retry, folder, copyProgress, signal } =
    copying;
  const present = await presentManifests(copying);
  const absent = plan.manifests.filter(({ digest }) => !present.has(digest));
  const incomplete = verify ? plan.manifests : absent;
  const lost = lostManifests(copying, present);
  const held = plan.manifests.filter(({ digest }) => present.has(digest) || lost.has(digest));
  const expected = new Set(held.flatMap(({ blobs }) => blobs.map(({ digest }) => digest)));
  const repaired: Repaired = { manifests: lost.size, blobs: 0 };
  const needed = new Set(incomplete.flatMap((manifest) => manifest.blobs.map(({ digest }) => digest)));
  const largeBlobs = createLargeBlobLimiter(parallelLarge);
  const onSent = (blob: Descriptor, bytes: number): void => {
    copyProgress.sent(blob, bytes);
    largeBlobs.sent(blob, bytes);
  };
  const copier = { source, destination, folder, retry, unhashed, onSent };
  // A registry rejects a manifest whose blobs are missing, so a present manifest implies its blobs; only `verify` finds those lost since.
  for (const blob of plan.blobs) if (!needed.has(blob.digest)) copyProgress.settled(blob, 'existed');
  const next = blobQueue(plan.blobs.filter(({ digest }) => needed.has(digest)));
  await mapBounded(lanes, parallel, signal, async (lane, sub) => {
    for (let blob = next(lane); blob !== undefined; blob = next(lane)) {
      const { size } = blob;
      const copy = copyBlob.bind(undefined, copier, blob, sub);
      const outcome = await (size < largeBytes ? copy() : largeBlobs.run(blob, copy, sub));
      copyProgress.settled(blob, outcome);
      if (outcome !== 'existed' && expected.has(blob.digest)) repaired.blobs += 1;
    }
  });
  const listed = new Set<string>();
  const alone = tagOnlyAttachments(plan);
  const first = absent.filter((manifest) => !isLast(copying, manifest) && !alone.has(manifest.digest));
  for (const wave of manifestLevels(first)) {
    await mapBounded(wave, parallel, signal, async (manifest, sub) => {
      const { subjectSeen } = await destination.putManifest(manifest.digest, manifest, sub);
      if (subjectSeen) listed.add(manifest.digest);
    });
  }
  const sizeOf = (some: readonly Manifest[]) => some.reduce((sum, { bytes }) => sum + bytes.length, 0);
  const sent = sizeOf(absent);
  copyProgress.manifests(sent, sizeOf(plan.manifests) - sent);
  await linkReferrers(copying, listed);
  const { tag } = destination;
  const isTagged = before === plan.root.digest && present.has(plan.root.digest);
  if (tag === undefined || isTagged) return repaired;
  if (sharedTagKind(tag) === undefined) await setTag(destination, tag, plan.root, signal);
  else await addToTag(copying, tag);
  return repaired;
}

/** Digests of the manifests that the destination has lost: its tag names them, or a manifest that it has lists them. */
function lostManifests({ plan, before }: CopyContext, present: ReadonlySet<string>): Set<string> {
  const lost = new Set<string>();
  // An index follows its children in the plan.
  for (const { digest, children } of plan.manifests.toReversed()) {
    const isRoot = digest === plan.root.digest && before === digest;
    if (isRoot && !present.has(digest)) lost.add(digest);
    if (!present.has(digest) && !lost.has(digest)) continue;
    for (const child of children) if (!present.has(child.digest)) lost.add(child.digest);
  }
  return lost;
}

/** Hands out blobs, the largest first: the blob that ends last determines how long the copy takes. */
function blobQueue(blobs: readonly Descriptor[]): (lane: number) => Descriptor | undefined {
  const sorted = blobs.toSorted((a, b) => b.size - a.size);
  const large = sorted.filter(({ size }) => size >= largeBytes);
  const small = sorted.slice(large.length);
  return (lane) => (lane < parallelLarge ? large.shift() : undefined) ?? small.shift();
}

/** Digests of the plan's manifests that the destination has. */
async function presentManifests(copying: CopyContext): Promise<Set<string>> {
  const { plan, destination, before, verify, signal } = copying;
  const present = new Set<string>();
  const known = new Map(plan.manifests.map((manifest) => [manifest.digest, manifest]));
  const add = (digest: string): void => {
    const manifest = known.get(digest);
    if (!manifest || present.has(digest)) return;
    present.add(digest);
    for (const child of manifest.children) add(child.digest);
  };
  // A registry rejects an index whose children are missing. Without the root, most other manifests are missing too: a HEAD for each would
  // cost a request per manifest, and the blobs are looked for in any case.
  const { digest: root } = plan.root;
  if (before !== root && (await destination.head(root, signal)) === undefined) return present;
  if (!verify) add(root);
  const unknown = plan.manifests.filter(({ digest }) => !present.has(digest));
  const found = await mapBounded(unknown, parallel, signal, async ({ digest }, sub) =>
    (await destination.head(digest, sub)) === undefined ? undefined : digest,
  );
  for (const digest of found) if (digest !== undefined) present.add(digest);
  return present;
}

/**
 * True if the root is pushed by tag, in one request. A root with referrers is pushed by digest before them and tagged after them. A
 * registry finds a digest other than SHA-256 only if the manifest was pushed by that digest.
 */
function isLast({ plan, destination }: CopyContext, manifest: Manifest): boolean {
  const alone = plan.referrers.length + plan.tagged.length === 0;
  const { tag } = destination;
  if (!manifest.digest.startsWith('sha256:')) return false;
  return alone && tag !== undefined && sharedTagKind(tag) === undefined && manifest === plan.root;
}

/** Groups manifests into levels: each manifest is in a later level than its children and its subject. Expects dependencies first. */
function manifestLevels(manifests: readonly Manifest[]): Manifest[][] {
  const waveOf = new Map<string, number>();
  const result: Manifest[][] = [];
  for (const manifest of manifests) {
    const earlier = [...manifest.children.map(({ digest }) => digest), manifest.subject ?? ''];
    const wave = Math.max(...earlier.map((digest) => waveOf.get(digest) ?? -1)) + 1;
    waveOf.set(manifest.digest, wave);
    result[wave] = [...(result[wave] ?? []), manifest];
  }
  return result;
}

async function linkReferrers(
  { plan, destination, retry, signal }: CopyContext,
  listed: ReadonlySet<string>,
): Promise<void> {
  const unlisted = plan.referrers.filter(({ manifest }) => !listed.has(manifest.digest));
  const groups = Map.groupBy(unlisted, (referrer) => referrer.subject);
  await mapBounded([...groups], parallel, signal, async ([subject, group], sub) => {
    const manifests = group.map(({ manifest }) => manifest);
    await destination.ensureReferrers(subject, manifests, sub);
  });
  const warn = (text: string): number => plan.warnings.push(text);
  await mapBounded(plan.tagged, parallel, signal, (attachment, sub) =>
    ensureAttachment(attachment, { destination, retry, warn, signal: sub }),
  );
}

/** Adds the root to a tag of attachments, which others at the destination may have written too. */
async function addToTag({ plan, destination, retry, signal }: CopyContext, tag: string): Promise<void> {
  const { root, warnings } = plan;
  const warn = (text: string): never => {
    throw new TransferError('permanent', `${text}: delete that tag first, or use another one.`);
  };
  await ensureAttachment({ tag, manifest: root }, { destination, retry, warn, signal });
  const found = await destination.head(tag, signal);
  if (found !== root.digest)
    warnings.push(
      `Tag ${tag} of ${destination.place} is ${found}: it also includes the previous attachments`,
    );
}

async function setTag(
  destination: ContentSink,
  tag: string,
  manifest: Manifest,
  signal: AbortSignal,
): Promise<void> {
  const stored = await destination.putManifest(tag, manifest, signal);
  // The destination verified the digest that it reports.
  if (stored.digest === manifest.digest) return;
  const found = await destination.head(tag, signal);
  if (found === manifest.digest) return;
  const state = found === undefined ? 'does not exist' : `points to ${found}`;
  throw new TransferError(
    'retryable',
    `Tag ${tag} in ${destination.place} ${state} although ${manifest.digest} was just written to it: another client writes this tag, or the registry lost it.`,
  );
}
