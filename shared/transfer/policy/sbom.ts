import { isRecord } from '#shared/base/meta';

/** Media types of SPDX, CycloneDX and Syft, as cosign, syft, trivy and ORAS name them. */
export const sbomTypes =
  /^(text\/spdx|text\/spdx\+(json|xml)|application\/spdx\+(json|xml)|application\/vnd\.cyclonedx(\+(json|xml))?|application\/vnd\.syft\+json)$/;

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
