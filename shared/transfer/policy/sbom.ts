import { isRecord } from '#shared/base/meta';

/** Media types of SPDX, CycloneDX and Syft, as used by their specifications, cosign, Syft, Trivy, BOM tools and ORAS. */
const sbomTypes =
  /^(text\/spdx|application\/(x\.)?(vnd\.)?(spdx|cyclonedx|syft))([.-][a-z0-9.-]+)?(\+(json|xml|yaml|protobuf))?$/;

/** Predicate types of in-toto statements; GitHub appends the SPDX version. */
const sbomPredicates =
  /^https?:\/\/(spdx\.dev\/document|cyclonedx\.org\/(bom|schema)|syft\.dev\/bom|anchore\.com\/syft)(\/v?[\d.]+)?\/?$/;

/** GitHub's dependency graph, as an SBOM or as Syft's dependency snapshot. */
const gitHubTypes = /^application\/vnd\.github\.(dependency-|.*sbom)[a-z0-9.-]*\+json$/;

/** True for the media type of an SBOM, regardless of parameters. */
export function isSbomType(mediaType: string): boolean {
  const [plain = ''] = mediaType.toLowerCase().split(';');
  return sbomTypes.test(plain.trim()) || gitHubTypes.test(plain.trim());
}

/** True for the predicate type of an SBOM. */
export function isSbomPredicate(type: string): boolean {
  return sbomPredicates.test(type.toLowerCase());
}

/** The generic predicate in which cosign wraps content without a type of its own. */
export const cosignPredicate = 'https://cosign.sigstore.dev/attestation/v1';

/** The format of an SBOM wrapped by `cosign attest --type custom`, as `syft attest` does for the formats of Syft and GitHub; undefined otherwise. */
export function wrappedFormat(predicate: unknown): string | undefined {
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
 * The SHA-256 digests of the subject of an SBOM (CycloneDX or SPDX 2, JSON); undefined if the value is no SBOM. Other components, such as the
 * base image, do not count. An SBOM that lists no package describes nothing.
 */
export function describedIn(value: unknown): Set<string> | undefined {
  if (!isRecord(value)) return undefined;
  if (value.bomFormat === 'CycloneDX') {
    const listed = recordsIn(value.components).some(({ type }) => !nonPackageTypes.has(String(type)));
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
    ({ primaryPackagePurpose: is }) => !nonPackageTypes.has(String(is).toLowerCase()),
  );
  // The subject may be the image, or each of its packages.
  const isEmpty = listed.length < 2 && listed.every(({ SPDXID }) => described.has(SPDXID));
  return isEmpty ? new Set() : digestsIn([name, documentNamespace, roots]);
}

/** Components that are not packages: the image itself, and the origins of its packages. */
const nonPackageTypes = new Set(['container', 'operating-system', 'file']);

/** Extracts SHA-256 digests, with or without the name of the algorithm. */
function digestsIn(value: unknown): Set<string> {
  const found = JSON.stringify(value ?? '').match(/\b[0-9a-f]{64}\b/g) ?? [];
  return new Set(found.map((hex) => `sha256:${hex}`));
}

function recordsIn(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
