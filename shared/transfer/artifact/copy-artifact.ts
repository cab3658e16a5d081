import { bytesText } from '#shared/base/errors';
import { type Attesting, attested } from '../attest/attest.ts';
import type { ContentSink, ContentSource } from '../content/content.ts';
import type { Manifest } from '../content/manifest.ts';
import { bytesOf, type CopyPlan, planCopy } from '../content/plan.ts';
import { copyContent } from '../copy/copy-content.ts';
import { blobSteps, createCopyProgress } from '../copy/copy-progress.ts';
import { type CopyResult, inSession, type RunOptions } from '../copy/in-session.ts';
import { TransferError } from '../errors/transfer-error.ts';
import type { Opening } from '../oci/session.ts';
import type { FoundSbom } from '../policy/attached-sboms.ts';
import { applyPolicy } from '../policy/gate.ts';
import type { Policies } from '../policy/policy.ts';
import { noReports, type ReportFile, readReports } from '../policy/reports.ts';
import { sharedTagKind } from '../reference/digest.ts';

/** How an artifact is copied or compared. */
export interface CopyOptions extends RunOptions {
  /** An artifact that it denies is refused before any of its blobs is copied. */
  policy?: Policies;
  /** A folder with what scanners have written, for the policy: see `readReports`. */
  reportsFolder?: string;
  /** The trusted_root.json of Sigstore by which the policy judges certificates; it may be absent where no policy does. */
  trustedRoot?: string;
  /** The transfer, and the reports, are attested at the destination. */
  attest?: Attesting;
}

/** The two ends of a copy. */
export interface Ends {
  source: ContentSource;
  destination: ContentSink;
}

/**
 * Copies one artifact by digest, with all platforms and referrers. It resolves the tag once, copies manifests unchanged and blobs before
 * the manifests that list them, and writes the tag last. It is safe to repeat. Rejects with a TransferError whose message contains no
 * credentials.
 */
export function copyArtifact(
  options: CopyOptions,
  open: (opening: Opening) => Promise<Ends>,
): Promise<CopyResult> {
  return inSession(options, async (opening) => copyEnds(options, await open(opening), opening));
}

/** The same between opened ends, in a session that goes on. `planned`: the plan of the source, where it was made before. */
export async function copyEnds(
  options: CopyOptions,
  ends: Ends,
  opening: Opening,
  planned?: CopyPlan,
): Promise<CopyResult> {
  const { destination } = ends;
  const { session, folder, signal } = opening;
  const read = await readEnds(options, ends, opening, planned);
  const { before, sboms } = read;
  const { plan, source } = (await mustAttest(options, ends, read, signal))
    ? await attested(options.attest ?? {}, { ...ends, ...read, folder })
    : { ...ends, ...read };
  const total = bytesOf(plan);
  if (total > (options.maxBytes ?? Number.POSITIVE_INFINITY)) throw tooLarge(source, total);
  const { onStep } = options;
  onStep?.(`manifest read: ${plan.root.digest}, ${plan.blobs.length} blobs, ${bytesText(total)} in all`);
  const copyProgress = createCopyProgress(total, options.progress, blobSteps(plan.blobs.length, onStep));
  const { retry } = session;
  const { verify = false } = options;
  const context = { plan, source, destination, before, verify, retry, folder, copyProgress, signal };
  const repaired = await copyContent(context);
  const { blobs, bytes } = copyProgress;
  const { root, referrers, tagged, warnings } = plan;
  const { digest, mediaType } = root;
  return {
    digest,
    mediaType,
    bytes,
    blobs,
    warnings,
    referrers: referrers.length + tagged.length,
    ...(repaired.manifests + repaired.blobs > 0 && { repaired }),
    ...(sboms.length > 0 && { sboms: sboms.slice(0, mostSboms) }),
  };
}

/** Of an index with many platforms, as many are named in the result. */
const mostSboms = 20;

/** Attested is what arrives, once: a repeat that finds it there would add a statement each time. */
async function mustAttest(
  { attest }: CopyOptions,
  { destination }: Ends,
  { plan, before }: Read,
  signal: AbortSignal,
): Promise<boolean> {
  if (attest === undefined) return false;
  const { digest } = plan.root;
  const { tag } = destination;
  // Under a tag that is shared with others there may be more.
  const isOwn = tag !== undefined && sharedTagKind(tag) === undefined;
  return (isOwn ? before : await destination.head(digest, signal)) !== digest;
}

/** What is known before anything is written. */
interface Read {
  plan: CopyPlan;
  /** What the tag of the destination names. */
  before: string | undefined;
  scans: readonly ReportFile[];
  /** Those by which it passed a policy. */
  sboms: readonly FoundSbom[];
}

/**
 * Reads the whole source, and what the tag of the destination names. Rejects if the destination demands another digest, or if the policy
 * denies the artifact.
 */
export async function readEnds(
  { policy, reportsFolder, trustedRoot }: CopyOptions,
  { source, destination }: Ends,
  { session, signal }: Opening,
  planned?: CopyPlan,
): Promise<Read> {
  // Asked while the source is read. If both fail, the failure of the source is reported.
  const looking = destination.tag === undefined ? undefined : destination.head(destination.tag, signal);
  looking?.catch(() => undefined);
  const plan = planned ?? (await planCopy(source, signal));
  checkDigest(destination, plan.root);
  const reports = reportsFolder === undefined ? noReports : await readReports(reportsFolder, signal);
  const candidate = {
    plan,
    source,
    reports,
    retry: session.retry,
    signal,
    ...(trustedRoot !== undefined && { trustedRoot }),
  };
  const sboms = policy === undefined ? [] : await applyPolicy(policy, candidate);
  return { plan, before: await looking, scans: reports.scans, sboms };
}

function tooLarge({ place }: ContentSource, bytes: number): TransferError {
  return new TransferError(
    'permanent',
    `The artifact of ${place} takes ${bytesText(bytes)}, more than this worker moves: raise ARC_MAX_BYTES, and the sizeLimit of the volume, in the workflow template.`,
  );
}

/** A destination with a digest accepts that digest only. */
function checkDigest({ digest }: ContentSink, root: Manifest): void {
  if (digest === undefined || digest === root.digest) return;
  throw new TransferError(
    'permanent',
    `The destination requires ${digest}, but the source has ${root.digest}: remove or correct the digest.`,
  );
}
