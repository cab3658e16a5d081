import { mapBounded } from '#shared/async';
import type { ContentSource } from '../content/content.ts';
import { createdIn } from '../content/created.ts';
import { readBlob } from '../copy/blob-content.ts';
import { bytesOf, type CopyPlan } from '../copy/plan.ts';
import { TransferError } from '../errors/transfer-error.ts';
import type { RetryPolicy } from '../http/retry.ts';
import type { Descriptor, Manifest } from '../oci/manifest.ts';
import { digestTag } from '../reference/digest.ts';
import { type Facts, judge, type Policy } from './policy.ts';
import type { Signature } from './signature.ts';

/** What a policy is applied to: an artifact as its source has it. */
export interface Candidate {
  plan: CopyPlan;
  source: ContentSource;
  retry: RetryPolicy;
  signal: AbortSignal;
}

const parallel = 4;
const maxConfigBytes = 4 * 1024 * 1024;
/** cosign's payloads and bundles have a few KiB. Others than these are not looked at, so they sign nothing. */
const maxSignatureBytes = 256 * 1024;
const maxSignatures = 100;

const payloadType = 'application/vnd.dev.cosign.simplesigning.v1+json';
const signatureAnnotation = 'dev.cosignproject.cosign/signature';
const bundleTypes = /^application\/vnd\.dev\.sigstore\.bundle(\.v0\.\d+\+json|\+json;version=0\.\d+)$/;
/** SPDX, CycloneDX and Syft, as cosign, syft, trivy and ORAS name them. */
const sbomTypes =
  /^(text\/spdx|text\/spdx\+(json|xml)|application\/spdx\+(json|xml)|application\/vnd\.cyclonedx(\+(json|xml))?|application\/vnd\.syft\+json)$/;
/** On the entries of an index that BuildKit adds for its attestations. */
const attestationAnnotation = 'vnd.docker.reference.type';

/** Reads what the policy asks for and decides. Rejects with a TransferError `denied-by-policy` that names the rule. */
export async function applyPolicy(policy: Policy, candidate: Candidate): Promise<void> {
  const decision = judge(policy, await factsFor(policy, candidate));
  if (decision.allowed) return;
  const { source, plan } = candidate;
  throw new TransferError(
    'denied-by-policy',
    `Denied by policy, rule ${decision.rule}: ${decision.found} (${plan.root.digest} of ${source.place}).`,
  );
}

async function factsFor(policy: Policy, candidate: Candidate): Promise<Facts> {
  const { plan, source } = candidate;
  const own = ownManifests(plan);
  const images = imagesOf(own);
  return {
    digest: plan.root.digest,
    repository: nameOf(source),
    bytes: bytesOf(plan),
    mediaTypes: mediaTypesOf(own),
    images: policy.maxAgeMs === undefined ? images.map(undated) : await datedImages(images, candidate),
    described: describedBy(plan, own),
    signatures: policy.requiredSigners === undefined ? [] : await signaturesOf(candidate),
    nowMs: Date.now(),
  };
}

/** The name by which users know the source: Docker Hub is served by another host than the one that they write. */
function nameOf({ registry, address }: ContentSource): string | undefined {
  if (registry === undefined) return address?.toLowerCase();
  const { host } = new URL(registry.origin);
  const known = host === 'registry-1.docker.io' ? 'docker.io' : host.replace(/\.(?=:|$)/, '');
  return `${known}/${registry.repository}`.toLowerCase();
}

/** The root and what it lists, by digest; not what refers to it. */
function ownManifests({ root, manifests }: CopyPlan): Map<string, Manifest> {
  const known = new Map(manifests.map((manifest) => [manifest.digest, manifest]));
  const own = new Map<string, Manifest>();
  const visit = (manifest: Manifest | undefined): void => {
    if (manifest === undefined || own.has(manifest.digest)) return;
    own.set(manifest.digest, manifest);
    for (const child of manifest.children) visit(known.get(child.digest));
  };
  visit(root);
  return own;
}

function imagesOf(own: ReadonlyMap<string, Manifest>): Manifest[] {
  const entries = [...own.values()].flatMap(({ children }) => children);
  const attests = ({ annotations }: Descriptor) =>
    annotations?.[attestationAnnotation] === 'attestation-manifest';
  const attestations = new Set(entries.filter(attests).map(({ digest }) => digest));
  return [...own.values()].filter(
    ({ digest, mediaType }) => !attestations.has(digest) && !/index|manifest\.list/.test(mediaType),
  );
}

function mediaTypesOf(own: ReadonlyMap<string, Manifest>): string[] {
  const types = [...own.values()].flatMap(({ mediaType, descriptor, blobs, foreign }) => [
    mediaType,
    ...(descriptor.artifactType === undefined ? [] : [descriptor.artifactType]),
    ...[...blobs, ...foreign].map((blob) => blob.mediaType),
  ]);
  return [...new Set(types.map((type) => type.toLowerCase()))];
}

function undated({ digest }: Manifest): Facts['images'][number] {
  return { digest, createdMs: undefined };
}

function datedImages(images: readonly Manifest[], { source, retry, signal }: Candidate) {
  return mapBounded(images, parallel, signal, async (image, sub) => {
    const { digest, descriptor, blobs } = image;
    const [config] = blobs;
    const isSmall = config !== undefined && config.size <= maxConfigBytes;
    const inConfig = isSmall ? createdIn(await readBlob({ source, blob: config, retry }, sub)) : undefined;
    // A chart has the time here: its config is Chart.yaml.
    const noted = Date.parse(descriptor.annotations?.['org.opencontainers.image.created'] ?? '');
    return { digest, createdMs: inConfig ?? (Number.isNaN(noted) ? undefined : noted) };
  });
}

/** The digests of those own manifests that an SBOM refers to, or that have one under cosign's tag. */
function describedBy({ referrers, tagged }: CopyPlan, own: ReadonlyMap<string, Manifest>): Set<string> {
  const isSbom = ({ descriptor, blobs }: Manifest): boolean =>
    [descriptor.artifactType, ...blobs.map(({ mediaType }) => mediaType)].some(
      (type) => type !== undefined && sbomTypes.test(type.toLowerCase()),
    );
  const listed = referrers.filter(({ manifest }) => isSbom(manifest)).map(({ subject }) => subject);
  const tags = new Set(tagged.filter(({ manifest }) => isSbom(manifest)).map(({ tag }) => tag));
  const attached = [...own.keys()].filter((digest) => tags.has(`${digestTag(digest)}.sbom`));
  return new Set([...listed, ...attached]);
}

/** The signatures of the root: under cosign's tag and among its referrers. */
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
    return { form: 'payload' as const, payload: content, signature };
  });
}
