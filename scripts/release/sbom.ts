import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isoSeconds } from '#shared/base/meta';
import type { ReleaseContext } from './context.ts';
import type { Library } from './debian-libraries.ts';
import { runCommand } from './run-command.ts';
import type { ThirdParty } from './third-party.ts';

interface CycloneDx {
  serialNumber: string;
  metadata: { timestamp: string; component: { 'bom-ref': string; name: string; type: string } };
  components: { 'bom-ref': string }[];
  dependencies: { ref: string; dependsOn: string[] }[];
}

interface Spdx {
  documentNamespace: string;
  creationInfo: { created: string };
  packages: { SPDXID: string; name: string; versionInfo?: string }[];
  relationships: { spdxElementId: string; relatedSpdxElement: string; relationshipType: string }[];
}

/** A component of a release that is not an npm package: Node, and Debian's libraries. */
interface Extra {
  name: string;
  version: string;
  purl: string;
  license?: string;
}

/**
 * Writes the SBOM of a release as CycloneDX and as SPDX, with `npm sbom`: only the packages in its programs, with Node and the libraries of the
 * image. The SBOMs are reproducible: times and ids are derived from the release.
 */
export async function releaseSboms(
  context: ReleaseContext,
  parties: readonly ThirdParty[],
  { nodeVersion, libraries }: { nodeVersion: string; libraries: readonly Library[] },
): Promise<void> {
  const { folder, version, signal } = context;
  const shipped = new Set(parties.map((each) => `${each.name}@${each.version}`));
  const extras: Extra[] = [
    { name: 'node', version: nodeVersion, purl: `pkg:generic/node@${nodeVersion}`, license: 'MIT' },
    ...libraries.map(({ name, version: packageVersion, architecture }) => ({
      name,
      version: packageVersion,
      purl: `pkg:deb/debian/${name.replaceAll('+', '%2B')}@${encodeURIComponent(packageVersion)}?arch=${architecture}`,
    })),
  ];
  const made = async <T>(format: string): Promise<T> =>
    JSON.parse(await runCommand('npm', ['sbom', '--sbom-format', format], { signal }));
  const write = (extension: string, value: object) =>
    writeFile(
      path.join(folder, `artifact-conduit-${version}.${extension}.json`),
      `${JSON.stringify(value, undefined, 2)}\n`,
    );
  await write('cdx', cycloneDxOf(await made('cyclonedx'), shipped, extras, context));
  await write('spdx', spdxOf(await made('spdx'), shipped, extras, context));
}

function cycloneDxOf(
  bom: CycloneDx,
  shipped: ReadonlySet<string>,
  extras: readonly Extra[],
  { time }: ReleaseContext,
): CycloneDx {
  const root = bom.metadata.component['bom-ref'];
  const isKept = (ref: string) => ref === root || shipped.has(ref);
  const dependencies = bom.dependencies
    .filter(({ ref }) => isKept(ref))
    .map(({ ref, dependsOn }) => ({
      ref,
      dependsOn: [
        ...dependsOn.filter(isKept),
        // Includes build-time packages whose code ends up in the programs.
        ...(ref === root ? extras.map(({ purl }) => purl) : []),
      ],
    }));
  const components = [
    ...bom.components
      .filter((each) => shipped.has(each['bom-ref']))
      .map((each) => ({ ...each, scope: 'required' })),
    ...extras.map(({ name, version, purl, license }) => ({
      'bom-ref': purl,
      type: name === 'node' ? 'application' : 'library',
      name,
      version,
      purl,
      ...(license !== undefined && { licenses: [{ license: { id: license } }] }),
    })),
  ];
  const content = { components, dependencies };
  return {
    ...bom,
    serialNumber: `urn:uuid:${uuidOf(JSON.stringify(content))}`,
    metadata: {
      ...bom.metadata,
      timestamp: isoSeconds(time * 1000),
      component: { ...bom.metadata.component, name: 'artifact-conduit', type: 'application' },
    },
    ...content,
  };
}

function spdxOf(
  bom: Spdx,
  shipped: ReadonlySet<string>,
  extras: readonly Extra[],
  { time }: ReleaseContext,
): Spdx {
  const [root, ...others] = bom.packages;
  const packages = [
    ...(root ? [root] : []),
    ...others.filter(({ name, versionInfo }) => shipped.has(`${name}@${versionInfo}`)),
    ...extras.map(({ name, version, purl, license }) => ({
      name,
      SPDXID: idOf(purl),
      versionInfo: version,
      downloadLocation: 'NOASSERTION',
      filesAnalyzed: false,
      licenseDeclared: license ?? 'NOASSERTION',
      externalRefs: [{ referenceCategory: 'PACKAGE-MANAGER', referenceType: 'purl', referenceLocator: purl }],
    })),
  ];
  const ids = new Set(['SPDXRef-DOCUMENT', ...packages.map(({ SPDXID }) => SPDXID)]);
  const relationships = [
    ...bom.relationships.filter((each) => ids.has(each.spdxElementId) && ids.has(each.relatedSpdxElement)),
    ...extras.map(({ purl }) => ({
      spdxElementId: root?.SPDXID ?? '',
      relatedSpdxElement: idOf(purl),
      relationshipType: 'CONTAINS',
    })),
  ];
  const content = { packages, relationships };
  const base = bom.documentNamespace.replace(/-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, '');
  return {
    ...bom,
    documentNamespace: `${base}-${uuidOf(JSON.stringify(content))}`,
    creationInfo: { ...bom.creationInfo, created: isoSeconds(time * 1000) },
    ...content,
  };
}

function idOf(purl: string): string {
  return `SPDXRef-${purl.replaceAll(/[^A-Za-z0-9.]+/g, '-')}`;
}

/** Returns a version 8 UUID (RFC 9562) derived from content. */
function uuidOf(content: string): string {
  const hex = createHash('sha256').update(content).digest('hex');
  const variant = ((Number.parseInt(hex[16] ?? '0', 16) & 0x3) | 0x8).toString(16);
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-${variant}${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
