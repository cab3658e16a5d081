import { mapBounded } from '#shared/base/async';
import type { ContentSink, ContentSource } from '../content/content.ts';
import type { Descriptor, Manifest } from '../content/manifest.ts';
import type { CopyPlan } from '../content/plan.ts';
import { TransferError } from '../errors/transfer-error.ts';
import type { RetryPolicy } from '../http/retry.ts';
import { sharedTagKind } from '../reference/digest.ts';
import { copyBlob } from './copy-blob.ts';
import type { CopyProgress } from './copy-progress.ts';
import type { Repaired } from './in-session.ts';
import { keepAttachment, taggedAlone } from './keep-attachment.ts';
import { createLargeTurns } from './large-turns.ts';

const parallel = 8;
/** So many of the large blobs are sent at a time where that helps. */
const parallelLarge = 4;
const largeBytes = 32 * 1024 * 1024;

const lanes = Array.from({ length: parallel }, (_, lane) => lane);

export interface CopyContext {
  plan: CopyPlan;
  source: ContentSource;
  destination: ContentSink;
  /** The digest under the tag of the destination before the copy; undefined if it has no such tag. */
  before: string | undefined;
  /** True: a manifest at the destination does not vouch for what it lists. */
  verify: boolean;
  retry: RetryPolicy;
  folder: string;
  copyProgress: CopyProgress;
  signal: AbortSignal;
}

/**
 * Copies blobs, then manifests, those that others list first, then links the referrers; the tag is last. Resolves with what the destination had
 * lost of what it had.
 */
export async function copyContent(copying: CopyContext): Promise<Repaired> {
  const { plan, source, destination, before, verify, retry, folder, copyProgress, signal } = copying;
  const present = await presentManifests(copying);
  const absent = plan.manifests.filter(({ digest }) => !present.has(digest));
  const incomplete = verify ? plan.manifests : absent;
  const lost = lostManifests(copying, present);
  const held = plan.manifests.filter(({ digest }) => present.has(digest) || lost.has(digest));
  const expected = new Set(held.flatMap(({ blobs }) => blobs.map(({ digest }) => digest)));
  const repaired: Repaired = { manifests: lost.size, blobs: 0 };
  const needed = new Set(incomplete.flatMap((manifest) => manifest.blobs.map(({ digest }) => digest)));
  const turns = createLargeTurns(parallelLarge);
  const onSent = (blob: Descriptor, bytes: number): void => {
    copyProgress.sent(blob, bytes);
    turns.sent(blob, bytes);
  };
  const copier = { source, destination, folder, retry, onSent };
  // A registry refuses a manifest whose blobs it lacks, so one that has the manifest had the blobs; whether it lost one since, `verify` finds out.
  for (const blob of plan.blobs) if (!needed.has(blob.digest)) copyProgress.settled(blob, 'existed');
  const next = inTurn(plan.blobs.filter(({ digest }) => needed.has(digest)));
  await mapBounded(lanes, parallel, signal, async (lane, sub) => {
    for (let blob = next(lane); blob !== undefined; blob = next(lane)) {
      const { size } = blob;
      const copy = copyBlob.bind(undefined, copier, blob, sub);
      const outcome = await (size < largeBytes ? copy() : turns.run(blob, copy, sub));
      copyProgress.settled(blob, outcome);
      if (outcome !== 'existed' && expected.has(blob.digest)) repaired.blobs += 1;
    }
  });
  const listed = new Set<string>();
  const alone = taggedAlone(plan);
  const first = absent.filter((manifest) => !isLast(copying, manifest) && !alone.has(manifest.digest));
  for (const wave of waves(first)) {
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

/** Digests of the manifests that the destination must have had: its tag names them, or a manifest that it has lists them. */
function lostManifests({ plan, before }: CopyContext, present: ReadonlySet<string>): Set<string> {
  const lost = new Set<string>();
  // Those that list others come after these.
  for (const { digest, children } of plan.manifests.toReversed()) {
    const isRoot = digest === plan.root.digest && before === digest;
    if (isRoot && !present.has(digest)) lost.add(digest);
    if (!present.has(digest) && !lost.has(digest)) continue;
    for (const child of children) if (!present.has(child.digest)) lost.add(child.digest);
  }
  return lost;
}

/** Gives the blobs to lanes, the largest first: a copy takes as long as the blob that ends last. */
function inTurn(blobs: readonly Descriptor[]): (lane: number) => Descriptor | undefined {
  const sorted = blobs.toSorted((a, b) => b.size - a.size);
  const large = sorted.filter(({ size }) => size >= largeBytes);
  const small = sorted.slice(large.length);
  return (lane) => (lane < parallelLarge ? large.shift() : undefined) ?? small.shift();
}

/** The digests of those manifests of the plan that the destination has. */
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
  // A registry refuses an index whose children it lacks. One that lacks the root will lack most of the rest: to look for it would take a
  // request for each manifest, and its blobs are looked for in any case.
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
 * True for the root if it is stored with its tag in one request. With referrers it is stored before them, and the tag after them; by another
 * algorithm than SHA-256, a registry finds it only if it was stored by its digest.
 */
function isLast({ plan, destination }: CopyContext, manifest: Manifest): boolean {
  const alone = plan.referrers.length + plan.tagged.length === 0;
  const { tag } = destination;
  if (!manifest.digest.startsWith('sha256:')) return false;
  return alone && tag !== undefined && sharedTagKind(tag) === undefined && manifest === plan.root;
}

/** Groups manifests so that each is in a later group than those of them that it lists or refers to. They come in such an order. */
function waves(manifests: readonly Manifest[]): Manifest[][] {
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
    await destination.keepReferrers(subject, manifests, sub);
  });
  const warn = (text: string): number => plan.warnings.push(text);
  await mapBounded(plan.tagged, parallel, signal, (attachment, sub) =>
    keepAttachment(attachment, { destination, retry, warn, signal: sub }),
  );
}

/** The tag belongs to what is attached to some image at the destination: others may have put signatures or referrers there. */
async function addToTag({ plan, destination, retry, signal }: CopyContext, tag: string): Promise<void> {
  const { root, warnings } = plan;
  const warn = (text: string): never => {
    throw new TransferError('permanent', `${text}: remove that tag first, or name another one.`);
  };
  await keepAttachment({ tag, manifest: root }, { destination, retry, warn, signal });
  const found = await destination.head(tag, signal);
  if (found !== root.digest)
    warnings.push(`Tag ${tag} of ${destination.place} is ${found}: it has what was there before as well`);
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
