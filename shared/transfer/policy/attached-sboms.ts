import { readBlob } from '../content/blob-content.ts';
import type { ContentSource } from '../content/content.ts';
import type { Descriptor, Manifest } from '../content/manifest.ts';
import { imagesOf, inTotoType, ownManifests } from '../content/own-manifests.ts';
import type { CopyPlan } from '../content/plan.ts';
import type { RetryPolicy } from '../http/retry.ts';
import { digestTag } from '../reference/digest.ts';
import { cosignPredicate, isSbomPredicate, isSbomType, wrappedFormat } from './sbom.ts';
import { bundleTypes, type Statement, statementIn, unverifiedStatement } from './signature.ts';

/** An SBOM that satisfies `requiredSbom`. */
export interface FoundSbom {
  /** Digest of the manifest that the SBOM describes: the root, or one of its images. */
  subject: string;
  /** Its media type or, in an attestation, the predicate type. */
  type: string;
  /** Digest of the blob with the SBOM; undefined for a file in the reports folder. */
  digest?: string;
}

export interface SbomSearch {
  plan: CopyPlan;
  source: ContentSource;
  /** Digests of manifests or configs that SBOMs in the reports folder describe. */
  reported: ReadonlySet<string>;
  retry: RetryPolicy;
  signal: AbortSignal;
}

/** An attestation embeds its SBOM in base64 and is held in memory; the limit is that of a file in the reports folder. */
const maxBytes = 64 * 1024 * 1024;
const maxAttestations = 100;

const envelopeType = 'application/vnd.dsse.envelope.v1+json';

/**
 * Returns one SBOM for the root and each of its images that has any: in the reports folder, attached under an SBOM media type, or in an
 * attestation of cosign, GitHub or BuildKit. Attestations are read one at a time, and only for subjects without another SBOM. Rejects with a
 * TransferError.
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
  for (const attestation of listed.slice(0, maxAttestations)) {
    if (isComplete()) break;
    if (found.has(attestation.subject ?? '')) continue;
    for (const sbom of await sbomsAttestedBy(attestation, search)) add(sbom);
  }
  return [...found.values()];
}

async function sbomsAttestedBy(
  { subject, blob }: Attestation,
  { source, retry, signal }: SbomSearch,
): Promise<FoundSbom[]> {
  if (blob.size > maxBytes) return [];
  const content = await readBlob({ source, blob, retry }, signal);
  const statement = blob.mediaType === inTotoType ? statementIn(content) : unverifiedStatement(content);
  if (statement === undefined) return [];
  const type = sbomType(statement);
  if (type === undefined) return [];
  return subjectsOf(statement, subject).map((described) => ({
    subject: described,
    type,
    digest: blob.digest,
  }));
}

function sbomType({ predicateType, predicate }: Statement): string | undefined {
  if (typeof predicateType !== 'string') return undefined;
  if (predicateType === cosignPredicate) return wrappedFormat(predicate);
  return isSbomPredicate(predicateType) ? predicateType : undefined;
}

/** The referrers of `subjects`, and the manifests under cosign's tags for them. */
function attachments({ referrers, tagged }: CopyPlan, subjects: Iterable<string>, suffix: 'sbom' | 'att') {
  return [...subjects].flatMap((subject) => [
    ...referrers.filter((each) => each.subject === subject),
    ...tagged
      .filter(({ tag }) => tag === `${digestTag(subject)}.${suffix}`)
      .map(({ manifest }) => ({ subject, manifest })),
  ]);
}

/** The SBOM in a manifest, identified by media type. */
function sbomIn({ descriptor, blobs }: Manifest): { digest: string; type: string } | undefined {
  const blob = blobs.find(({ mediaType }) => isSbomType(mediaType));
  if (blob !== undefined) return { digest: blob.digest, type: blob.mediaType };
  const { artifactType = '', digest } = descriptor;
  return isSbomType(artifactType)
    ? { digest: blobs.at(-1)?.digest ?? digest, type: artifactType }
    : undefined;
}

interface Attestation {
  /** The manifest that the attestation is attached to; undefined if only its statement says so. */
  subject: string | undefined;
  blob: Descriptor;
}

/** Attestations of `cosign attest`, `syft attest` and GitHub: Sigstore bundles, and envelopes under a tag. */
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

/** Attestations that BuildKit lists in the index beside their images. */
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

/** False for an attestation annotated as something else, which is not read. The annotation alone never proves an SBOM. */
function mayBeSbom(predicateType: string | undefined): boolean {
  return predicateType === undefined || predicateType === cosignPredicate || isSbomPredicate(predicateType);
}

/** The subjects of a statement. BuildKit omits them for an image exported without a name; the index then names the image. */
function subjectsOf({ subjects }: Statement, subject: string | undefined): readonly string[] {
  if (subject === undefined) return subjects;
  return subjects.length === 0 || subjects.includes(subject) ? [subject] : [];
}
