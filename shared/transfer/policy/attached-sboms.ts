import { readBlob } from '../content/blob-content.ts';
import type { ContentSource } from '../content/content.ts';
import type { Descriptor, Manifest } from '../content/manifest.ts';
import { imagesOf, inTotoType, ownManifests } from '../content/own-manifests.ts';
import type { CopyPlan } from '../content/plan.ts';
import type { RetryPolicy } from '../http/retry.ts';
import { digestTag } from '../reference/digest.ts';
import { cosignPredicate, isSbomPredicate, isSbomType, packedFormat } from './sbom.ts';
import { bundleTypes, type Statement, statementIn, unverifiedStatement } from './signature.ts';

/** An SBOM that counts for `requiredSbom`. */
export interface FoundSbom {
  /** Digest of the manifest that it describes: the root, or an image of it. */
  subject: string;
  /** Its media type or, in an attestation, the type of its predicate. */
  type: string;
  /** Digest of the blob that has it; undefined for a file in the folder of reports. */
  digest?: string;
}

export interface SbomSearch {
  plan: CopyPlan;
  source: ContentSource;
  /** The digests, of manifests or configs, that SBOMs in the folder of reports describe. */
  reported: ReadonlySet<string>;
  retry: RetryPolicy;
  signal: AbortSignal;
}

/** An attestation with an SBOM holds all of it, in base64: as large as a report in the folder of reports, and held in memory. */
const maxBytes = 64 * 1024 * 1024;
const mostAttestations = 100;

const envelopeType = 'application/vnd.dsse.envelope.v1+json';

/**
 * The SBOMs of the root and of its images, one for each that has some: in the folder of reports, attached by their media type, or in attestations of
 * cosign, GitHub and BuildKit. Attestations are read, one at a time, for what no other SBOM describes. Rejects with a TransferError.
 */
export async function findSboms(search: SbomSearch): Promise<FoundSbom[]> {
  const { plan, reported } = search;
  const images = imagesOf(plan);
  const own = [...new Set([plan.root, ...images])];
  const digests = own.map(({ digest }) => digest);
  const found = new Map<string, FoundSbom>();
  const add = (sbom: FoundSbom): void => {
    if (digests.includes(sbom.subject) && !found.has(sbom.subject)) found.set(sbom.subject, sbom);
  };
  for (const { digest, blobs } of own)
    if (reported.has(digest) || reported.has(blobs[0]?.digest ?? ''))
      add({ subject: digest, type: 'report' });
  for (const { subject, manifest } of attachments(plan, digests, 'sbom')) {
    const sbom = sbomIn(manifest);
    if (sbom !== undefined) add({ subject, ...sbom });
  }
  const isComplete = (): boolean =>
    found.has(plan.root.digest) || (images.length > 0 && images.every(({ digest }) => found.has(digest)));
  const listed = [...attestations(plan, digests), ...buildKitAttestations(plan)];
  for (const attestation of listed.slice(0, mostAttestations)) {
    if (isComplete()) break;
    if (found.has(attestation.subject ?? '')) continue;
    for (const sbom of await attestedBy(attestation, search)) add(sbom);
  }
  return [...found.values()];
}

async function attestedBy(
  { subject, blob }: Attestation,
  { source, retry, signal }: SbomSearch,
): Promise<FoundSbom[]> {
  if (blob.size > maxBytes) return [];
  const content = await readBlob({ source, blob, retry }, signal);
  const statement = blob.mediaType === inTotoType ? statementIn(content) : unverifiedStatement(content);
  if (statement === undefined) return [];
  const type = sbomType(statement);
  if (type === undefined) return [];
  return describedBy(statement, subject).map((described) => ({
    subject: described,
    type,
    digest: blob.digest,
  }));
}

function sbomType({ predicateType, predicate }: Statement): string | undefined {
  if (typeof predicateType !== 'string') return undefined;
  if (predicateType === cosignPredicate) return packedFormat(predicate);
  return isSbomPredicate(predicateType) ? predicateType : undefined;
}

/** What refers to one of `subjects`, as a referrer or under the tag that cosign makes of its digest. */
function attachments({ referrers, tagged }: CopyPlan, subjects: Iterable<string>, suffix: 'sbom' | 'att') {
  return [...subjects].flatMap((subject) => [
    ...referrers.filter((each) => each.subject === subject),
    ...tagged
      .filter(({ tag }) => tag === `${digestTag(subject)}.${suffix}`)
      .map(({ manifest }) => ({ subject, manifest })),
  ]);
}

/** The SBOM in a manifest, by the media types that it names. */
function sbomIn({ descriptor, blobs }: Manifest): { digest: string; type: string } | undefined {
  const blob = blobs.find(({ mediaType }) => isSbomType(mediaType));
  if (blob !== undefined) return { digest: blob.digest, type: blob.mediaType };
  const { artifactType = '', digest } = descriptor;
  return isSbomType(artifactType)
    ? { digest: blobs.at(-1)?.digest ?? digest, type: artifactType }
    : undefined;
}

interface Attestation {
  /** The manifest that it is attached to; undefined where only the statement says that. */
  subject: string | undefined;
  blob: Descriptor;
}

/** Those of `cosign attest`, `syft attest` and GitHub's attestations: bundles, and envelopes under a tag. */
function attestations(plan: CopyPlan, subjects: Iterable<string>): Attestation[] {
  return attachments(plan, subjects, 'att').flatMap(({ subject, manifest }) =>
    manifest.blobs
      .filter(
        ({ mediaType }) => [envelopeType, inTotoType].includes(mediaType) || bundleTypes.test(mediaType),
      )
      .filter(({ annotations }) =>
        mayBeSbom(
          annotations?.predicateType ??
            annotations?.['in-toto.io/predicate-type'] ??
            manifest.descriptor.annotations?.['dev.sigstore.bundle.predicateType'],
        ),
      )
      .map((blob) => ({ subject, blob })),
  );
}

/** Those that BuildKit lists in the index, beside the images that they are about. */
function buildKitAttestations(plan: CopyPlan): Attestation[] {
  const own = ownManifests(plan);
  const images = new Set(imagesOf(plan));
  return [...own.values()].flatMap(({ children }) =>
    children.flatMap(({ digest, annotations }) => {
      const manifest = own.get(digest);
      if (manifest === undefined || images.has(manifest)) return [];
      return manifest.blobs
        .filter(({ mediaType }) => mediaType === inTotoType)
        .filter((layer) => mayBeSbom(layer.annotations?.['in-toto.io/predicate-type']))
        .map((blob) => ({ subject: annotations?.['vnd.docker.reference.digest'], blob }));
    }),
  );
}

/** What is annotated as something else is not read; it would not count by its annotation alone. */
function mayBeSbom(predicateType: string | undefined): boolean {
  return predicateType === undefined || predicateType === cosignPredicate || isSbomPredicate(predicateType);
}

/** BuildKit names no subject in an image that it has exported without a name; the index says then which one is meant. */
function describedBy({ subjects }: Statement, subject: string | undefined): readonly string[] {
  if (subject === undefined) return subjects;
  return subjects.length === 0 || subjects.includes(subject) ? [subject] : [];
}
