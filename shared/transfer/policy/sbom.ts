import { isRecord } from '#shared/base/meta';

/** Media types of SPDX, CycloneDX and Syft, as their specifications, cosign, Syft, Trivy, BOM tools and ORAS name them. */
const sbomTypes =
  /^(text\/spdx|application\/(x\.)?(vnd\.)?(spdx|cyclonedx|syft))([.-][a-z0-9.-]+)?(\+(json|xml|yaml|protobuf))?$/;

/** Predicates of in-toto statements; GitHub adds the version of SPDX. */
const sbomPredicates =
  /^https?:\/\/(spdx\.dev\/document|cyclonedx\.org\/(bom|schema)|syft\.dev\/bom|anchore\.com\/syft)(\/v?[\d.]+)?\/?$/;

/** GitHub's dependency graph, as an SBOM or as the snapshot that Syft makes for it. */
const gitHubTypes = /^application\/vnd\.github\.(dependency-|.*sbom)[a-z0-9.-]*\+json$/;

/** Whether content of this media type is an SBOM; parameters, as of a version, do not count. */
export function isSbomType(mediaType: string): boolean {
  const [plain = ''] = mediaType.toLowerCase().split(';');
  return sbomTypes.test(plain.trim()) || gitHubTypes.test(plain.trim());
}

/** Whether the predicate of an in-toto statement is an SBOM, by its type. */
export function isSbomPredicate(type: string): boolean {
  return sbomPredicates.test(type.toLowerCase());
}

/** The predicate in which cosign packs what it has no type for, as text. */
export const cosignPredicate = 'https://cosign.sigstore.dev/attestation/v1';

/** The format of the SBOM that `cosign attest --type custom` has packed, as `syft attest` calls it for formats of Syft and GitHub; undefined for all else. */
export function packedFormat(predicate: unknown): string | undefined {
  const data = isRecord(predicate) ? predicate.Data : undefined;
  const value = typeof data === 'string' ? parsed(data) : data;
  if (!isRecord(value)) return undefined;
  if (value.bomFormat === 'CycloneDX') return 'application/vnd.cyclonedx+json';
  if (typeof value.spdxVersion === 'string') return 'application/spdx+json';
  if (Array.isArray(value.artifacts) && isRecord(value.descriptor) && value.descriptor.name === 'syft')
    return 'application/vnd.syft+json';
  const isSnapshot = isRecord(value.detector) && isRecord(value.manifests);
  return isSnapshot ? 'application/vnd.github.dependency-snapshot+json' : undefined;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * The SHA-256 digests by which a parsed SBOM (CycloneDX or SPDX 2, JSON) names what it describes; undefined if it is none. What it lists beside that,
 * such as the image that another one was built from, is not described by it. One that lists no package has looked at nothing and describes nothing.
 */
export function describedIn(value: unknown): Set<string> | undefined {
  if (!isRecord(value)) return undefined;
  if (value.bomFormat === 'CycloneDX') {
    const listed = recordsIn(value.components).some(({ type }) => !noPackages.has(String(type)));
    return digestsIn(listed && isRecord(value.metadata) ? value.metadata.component : undefined);
  }
  if (typeof value.spdxVersion !== 'string') return undefined;
  const { name, documentNamespace, packages, relationships, documentDescribes } = value;
  const described = new Set([
    ...recordsIn(relationships)
      .filter((each) => each.spdxElementId === 'SPDXRef-DOCUMENT' && each.relationshipType === 'DESCRIBES')
      .map((each) => each.relatedSpdxElement),
    ...(Array.isArray(documentDescribes) ? documentDescribes : []),
  ]);
  const roots = recordsIn(packages).filter(({ SPDXID }) => described.has(SPDXID));
  const listed = recordsIn(packages).filter(
    ({ primaryPackagePurpose: is }) => !noPackages.has(String(is).toLowerCase()),
  );
  // What is described may be the image, or each of its packages.
  const isEmpty = listed.length < 2 && listed.every(({ SPDXID }) => described.has(SPDXID));
  return isEmpty ? new Set() : digestsIn([name, documentNamespace, roots]);
}

/** The image itself, and where its packages come from. */
const noPackages = new Set(['container', 'operating-system', 'file']);

/** The algorithm stands in front of the digest, or beside it, or is understood. */
function digestsIn(value: unknown): Set<string> {
  const found = JSON.stringify(value ?? '').match(/\b[0-9a-f]{64}\b/g) ?? [];
  return new Set(found.map((hex) => `sha256:${hex}`));
}

function recordsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
