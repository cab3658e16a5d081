import { mapBounded } from '#shared/base/async';
import { isRecord } from '#shared/base/meta';
import { readBlob } from '../content/blob-content.ts';
import type { ContentSource } from '../content/content.ts';
import { createdIn } from '../content/created.ts';
import type { Descriptor, Manifest } from '../content/manifest.ts';
import { imagesOf, ownManifests, placeName } from '../content/own-manifests.ts';
import { bytesOf, type CopyPlan } from '../content/plan.ts';
import { TransferError } from '../errors/transfer-error.ts';
import type { RetryPolicy } from '../http/retry.ts';
import { digestTag } from '../reference/digest.ts';
import { type FoundSbom, findSboms } from './attached-sboms.ts';
import { chartFacts } from './chart-provenance.ts';
import { evaluatePolicy, type Facts, type Policies, type Policy, policiesIn } from './policy.ts';
import { noReports, type Reports } from './reports.ts';
import { parseReport, type ScanReport, vulnerabilityPredicate } from './scan-report.ts';
import { bundleTypes, keyOf, type Signature, verifiedStatement } from './signature.ts';
import { type RequiredSigners, requiresIdentity, type SignedBy } from './signers.ts';
import { readTrustedRoot } from './trusted-root.ts';

/** An artifact to check against a policy, as its source serves it. */
export interface Candidate {
  plan: CopyPlan;
  source: ContentSource;
  /** Reports of the operator's scanner. */
  reports?: Reports;
  /** The file with the trust root for certificates. */
  trustedRoot?: string;
  retry: RetryPolicy;
  signal: AbortSignal;
}

const parallel = 4;
const maxConfigBytes = 4 * 1024 * 1024;
/** cosign's payloads and bundles have a few KiB. Larger ones are ignored, so they sign nothing. */
const maxSignatureBytes = 256 * 1024;
const maxSignatures = 100;
/** A report of a large image has a few MiB, and is held in memory. */
const maxAttestationBytes = 32 * 1024 * 1024;
const maxAttestations = 20;

const payloadType = 'application/vnd.dev.cosign.simplesigning.v1+json';
const signatureAnnotation = 'dev.cosignproject.cosign/signature';
/** Additional annotations of keyless signatures. */
const certificateAnnotation = 'dev.sigstore.cosign/certificate';
const entryAnnotation = 'dev.sigstore.cosign/bundle';

/**
 * Reads the facts that each policy needs and decides. Resolves with the SBOMs that satisfied `requiredSbom`, if a policy sets it. Rejects
 * with a `denied-by-policy` TransferError that names the first policy and rule that deny the artifact.
 */
export async function applyPolicy(policies: Policies, candidate: Candidate): Promise<FoundSbom[]> {
  const { source, plan, reports = noReports } = candidate;
  const needsSboms = policiesIn(policies).some(({ policy }) => policy.requiredSbom === true);
  const sboms = needsSboms ? await findSboms({ ...candidate, reported: reports.described }) : [];
  // Sequentially, because each policy holds reports in memory.
  for (const { from, policy } of policiesIn(policies)) {
    const decision = evaluatePolicy(policy, await factsFor(policy, candidate, sboms));
    if (decision.allowed) continue;
    const by = from === undefined ? 'policy' : `the policy of ${from}`;
    throw new TransferError(
      'denied-by-policy',
      `Denied by ${by}, rule ${decision.rule}: ${decision.found} (${plan.root.digest} of ${source.place}).`,
    );
  }
  return sboms;
}

async function factsFor(policy: Policy, candidate: Candidate, sboms: readonly FoundSbom[]): Promise<Facts> {
  const { plan, source, reports = noReports } = candidate;
  const own = ownManifests(plan);
  const images = imagesOf(plan);
  const { signers = [] } = policy.vulnerabilities ?? {};
  const attached = signers.length === 0 ? [] : await attachedReports(images, signers, candidate);
  const chart = policy.chartSigners === undefined ? undefined : await chartFacts(plan.root, candidate);
  return {
    ...(chart !== undefined && { chart }),
    digest: plan.root.digest,
    repository: placeName(source),
    bytes: bytesOf(plan),
    mediaTypes: mediaTypesOf(own),
    images: policy.maxAgeMs === undefined ? images.map(undated) : await datedImages(images, candidate),
    described: new Set(sboms.map(({ subject }) => subject)),
    signatures: await signedBy(policy.requiredSigners, candidate),
    reports: [...reports.scans, ...attached],
    nowMs: Date.now(),
  };
}

function mediaTypesOf(own: ReadonlyMap<string, Manifest>): string[] {
  const types = [...own.values()].flatMap(({ mediaType, descriptor, blobs, foreign }) => [
    mediaType,
    ...(descriptor.artifactType === undefined ? [] : [descriptor.artifactType]),
    ...[...blobs, ...foreign].map((blob) => blob.mediaType),
  ]);
  return [...new Set(types.map((type) => type.toLowerCase()))];
}

function undated({ digest, blobs }: Manifest): Facts['images'][number] {
  return { digest, config: blobs[0]?.digest, createdMs: undefined };
}

function datedImages(images: readonly Manifest[], { source, retry, signal }: Candidate) {
  return mapBounded(images, parallel, signal, async (image, sub) => {
    const { descriptor, blobs } = image;
    const [config] = blobs;
    const isSmall = config !== undefined && config.size <= maxConfigBytes;
    const inConfig = isSmall ? createdIn(await readBlob({ source, blob: config, retry }, sub)) : undefined;
    // A chart has its time here: its config is Chart.yaml.
    const noted = Date.parse(descriptor.annotations?.['org.opencontainers.image.created'] ?? '');
    return { ...undated(image), createdMs: inConfig ?? (Number.isNaN(noted) ? undefined : noted) };
  });
}

/** The signatures of the root; if the rule names identities, with the verified certificates. */
async function signedBy(wanted: RequiredSigners | undefined, candidate: Candidate): Promise<SignedBy[]> {
  if (wanted === undefined) return [];
  if (!requiresIdentity(wanted)) return signaturesOf(candidate);
  // Read first: an operator should learn of a bad trust root whatever the artifact holds.
  const root = await readTrustedRoot(candidate.trustedRoot, wanted.trustedRoot);
  const { keylessVerifier: keylessJudge } = await import('./keyless.ts');
  const judge = keylessJudge(root);
  return (await signaturesOf(candidate)).map((signature) => ({ ...signature, keyless: judge(signature) }));
}

/** Signatures of the root, under cosign's tag and among its referrers. */
async function signaturesOf({ plan, source, retry, signal }: Candidate): Promise<Signature[]> {
  const { root, referrers, tagged } = plan;
  const attached = [
    ...tagged.filter(({ tag }) => tag === `${digestTag(root.digest)}.sig`),
    ...referrers.filter(({ subject }) => subject === root.digest),
  ];
  const isSignature = ({ mediaType, annotations, size }: Descriptor): boolean =>
    size <= maxSignatureBytes &&
    (bundleTypes.test(mediaType) ||
      (mediaType === payloadType && annotations?.[signatureAnnotation] !== undefined));
  const layers = attached.flatMap(({ manifest }) => manifest.blobs.filter(isSignature));
  return mapBounded(layers.slice(0, maxSignatures), parallel, signal, async (blob, sub) => {
    const content = await readBlob({ source, blob, retry }, sub);
    if (blob.mediaType !== payloadType) return { form: 'bundle' as const, bundle: content };
    const signature = Buffer.from(blob.annotations?.[signatureAnnotation] ?? '', 'base64');
    const { [certificateAnnotation]: certificate, [entryAnnotation]: entry } = blob.annotations ?? {};
    const isCertified = certificate !== undefined && entry !== undefined;
    return {
      form: 'payload' as const,
      payload: content,
      signature,
      ...(isCertified && { certified: { certificate, entry } }),
    };
  });
}

/**
 * The scan reports attached to an image and signed by one of the keys: bundles of `cosign attest --type vuln`. The statement's subjects
 * count, whatever image the report itself names.
 */
async function attachedReports(
  images: readonly Manifest[],
  signers: readonly string[],
  { plan, source, retry, signal }: Candidate,
): Promise<ScanReport[]> {
  const keys = signers.map(keyOf);
  const subjects = new Set([plan.root.digest, ...images.map(({ digest }) => digest)]);
  const bundles = plan.referrers
    .filter(({ subject }) => subjects.has(subject))
    .flatMap(({ manifest }) => manifest.blobs)
    .filter(({ mediaType, size }) => bundleTypes.test(mediaType) && size <= maxAttestationBytes);
  const found: ScanReport[] = [];
  // Sequentially, because each report is held in memory.
  for (const blob of bundles.slice(0, maxAttestations)) {
    const bundle = await readBlob({ source, blob, retry }, signal);
    const statement = keys.map((key) => verifiedStatement(bundle, key)).find((each) => each !== undefined);
    if (statement?.predicateType !== vulnerabilityPredicate || !isRecord(statement.predicate)) continue;
    const { scanner } = statement.predicate;
    const report = parseReport(isRecord(scanner) ? scanner.result : undefined);
    if (report !== undefined) found.push({ ...report, subjects: new Set(statement.subjects) });
  }
  return found;
}
