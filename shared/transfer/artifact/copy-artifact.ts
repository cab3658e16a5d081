import { bytesText } from '#shared/base/errors';
import { type AttestOptions, withAttestations } from '../attest/attest.ts';
import type { ContentSink, ContentSource } from '../content/content.ts';
import type { Manifest } from '../content/manifest.ts';
import { bytesOf, type CopyPlan, planCopy } from '../content/plan.ts';
import { copyContent } from '../copy/copy-content.ts';
import { blobSteps, createCopyProgress } from '../copy/copy-progress.ts';
import { type CopyResult, inSession, type RunOptions } from '../copy/in-session.ts';
import { TransferError } from '../errors/transfer-error.ts';
import type { TransferContext } from '../oci/session.ts';
import type { FoundSbom } from '../policy/attached-sboms.ts';
import { applyPolicy } from '../policy/gate.ts';
import type { Policies } from '../policy/policy.ts';
import { noReports, type ReportFile, readReports } from '../policy/reports.ts';
import { sharedTagKind } from '../reference/digest.ts';

/** How an artifact is copied or compared. */
export interface CopyOptions extends RunOptions {
  /** An artifact that the policy denies is refused before any of its blobs is copied. */
  policy?: Policies;
  /** A folder with the reports of scanners, for the policy: see `readReports`. */
  reportsFolder?: string;
  /** Sigstore's trusted_root.json, against which the policy verifies certificates; required only by policies with identities. */
  trustedRoot?: string;
  /** If set, the transfer and the scan reports are attested at the destination. */
  attest?: AttestOptions;
}

/** The two ends of a copy. */
export interface Ends {
  source: ContentSource;
  destination: ContentSink;
}

/**
 * Copies one artifact by digest, with all platforms and referrers. The tag is resolved once, blobs are written before the manifests that
 * list them, manifests are copied unchanged, and the tag is written last. Idempotent. Rejects with a TransferError whose message contains
 * no credentials.
 */
export function copyArtifact(
  options: CopyOptions,
  open: (context: TransferContext) => Promise<Ends>,
): Promise<CopyResult> {
  return inSession(options, async (context) => copyEnds(options, await open(context), context));
}

/** Copies between ends that are already open, within an existing session. `planned` is the plan of the source, if it was read before. */
export async function copyEnds(
  options: CopyOptions,
  ends: Ends,
  context: TransferContext,
  planned?: CopyPlan,
): Promise<CopyResult> {
  const { destination } = ends;
  const { session, folder, signal } = context;
  const read = await readEnds(options, ends, context, planned);
  const { before, sboms } = read;
  const { plan, source } = (await mustAttest(options, ends, read, signal))
    ? await withAttestations(options.attest ?? {}, { ...ends, ...read, folder })
    : { ...ends, ...read };
  const total = bytesOf(plan);
  if (total > (options.maxBytes ?? Number.POSITIVE_INFINITY)) throw tooLarge(source, total);
  const { onStep } = options;
  onStep?.(`manifest read: ${plan.root.digest}, ${plan.blobs.length} blobs, ${bytesText(total)} in all`);
  const copyProgress = createCopyProgress(total, options.progress, blobSteps(plan.blobs.length, onStep));
  const { retry } = session;
  const { verify = false, unhashed = false } = options;
  const copying = {
    plan,
    source,
    destination,
    before,
    verify,
    unhashed,
    retry,
    folder,
    copyProgress,
    signal,
  };
  const repaired = await copyContent(copying);
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
    ...(sboms.length > 0 && { sboms: sboms.slice(0, maxSboms) }),
  };
}

/** Bounds the SBOMs in the result: an index can have many platforms. */
const maxSboms = 20;

/** True unless the destination already has the artifact: a repeated run must not add another attestation. */
async function mustAttest(
  { attest }: CopyOptions,
  { destination }: Ends,
  { plan, before }: SourceAndTag,
  signal: AbortSignal,
): Promise<boolean> {
  if (attest === undefined) return false;
  const { digest } = plan.root;
  const { tag } = destination;
  // A shared tag may hold more than this artifact.
  const isOwn = tag !== undefined && sharedTagKind(tag) === undefined;
  return (isOwn ? before : await destination.head(digest, signal)) !== digest;
}

/** What both ends report before anything is written. */
interface SourceAndTag {
  plan: CopyPlan;
  /** The current digest of the destination's tag. */
  before: string | undefined;
  scans: readonly ReportFile[];
  /** The SBOMs by which the artifact passed the policy. */
  sboms: readonly FoundSbom[];
}

/**
 * Reads the whole source and the current digest of the destination's tag. Rejects if the destination requires another digest, or if the
 * policy denies the artifact.
 */
export async function readEnds(
  { policy, reportsFolder, trustedRoot }: CopyOptions,
  { source, destination }: Ends,
  { session, signal }: TransferContext,
  planned?: CopyPlan,
): Promise<SourceAndTag> {
  // Runs while the source is read. If both fail, the failure of the source is reported.
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
    `The artifact of ${place} has ${bytesText(bytes)}, more than the limit of this worker: raise ARC_MAX_BYTES and the sizeLimit of the volume in the workflow template.`,
  );
}

function checkDigest({ digest }: ContentSink, root: Manifest): void {
  if (digest === undefined || digest === root.digest) return;
  throw new TransferError(
    'permanent',
    `The destination requires ${digest}, but the source has ${root.digest}: remove or correct the digest.`,
  );
}
