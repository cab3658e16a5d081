import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { describedIn, isSbomPredicate, isSbomType, wrappedFormat } from './sbom.ts';

const hex = 'a'.repeat(64);
const base = 'b'.repeat(64);

const cycloneDX = {
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  metadata: {
    component: {
      type: 'container',
      name: 'layout',
      properties: [{ name: 'aquasecurity:trivy:ImageID', value: `sha256:${hex}` }],
    },
  },
  components: [{ type: 'library', name: 'musl', hashes: [{ alg: 'SHA-256', content: base }] }],
};
const spdx = {
  spdxVersion: 'SPDX-2.3',
  SPDXID: 'SPDXRef-DOCUMENT',
  name: 'app',
  documentNamespace: 'https://anchore.com/syft/image/app-1',
  packages: [
    { SPDXID: 'SPDXRef-root', name: 'app', versionInfo: `sha256:${hex}` },
    { SPDXID: 'SPDXRef-base', name: 'base', checksums: [{ algorithm: 'SHA256', checksumValue: base }] },
  ],
  relationships: [
    {
      spdxElementId: 'SPDXRef-DOCUMENT',
      relatedSpdxElement: 'SPDXRef-root',
      relationshipType: 'DESCRIBES',
    },
    { spdxElementId: 'SPDXRef-root', relatedSpdxElement: 'SPDXRef-base', relationshipType: 'CONTAINS' },
  ],
};

describe('an SBOM', () => {
  it.each<[string, object]>([
    ['CycloneDX', cycloneDX],
    ['SPDX', spdx],
    [
      'SPDX whose image is named by its namespace, and whose packages are all described',
      {
        ...spdx,
        documentNamespace: `https://example.com/${hex}`,
        packages: ['SPDXRef-a', 'SPDXRef-b'].map((SPDXID) => ({ SPDXID, name: 'a' })),
        relationships: [],
        documentDescribes: ['SPDXRef-a', 'SPDXRef-b'],
      },
    ],
    ['SPDX with documentDescribes', { ...spdx, relationships: [], documentDescribes: ['SPDXRef-root'] }],
  ])('of %s names its subject, and not the components', (_, value) => {
    expect(describedIn(value)).toEqual(new Set([`sha256:${hex}`]));
  });

  it.each<[string, object]>([
    ['CycloneDX of Syft', { ...cycloneDX, components: undefined }],
    ['CycloneDX of Trivy', { ...cycloneDX, components: [{ type: 'operating-system', name: 'alpine' }] }],
    ['SPDX of Syft', { ...spdx, packages: spdx.packages.slice(0, 1) }],
    [
      'SPDX of Trivy',
      {
        ...spdx,
        packages: [
          ...spdx.packages.slice(0, 1),
          { SPDXID: 'SPDXRef-os', primaryPackagePurpose: 'OPERATING-SYSTEM' },
        ],
      },
    ],
  ])('that lists no package describes nothing: %s', (_, value) => {
    expect(describedIn(value)).toEqual(new Set());
  });

  it.each([[{}], [[spdx]], [null], ['SPDX-2.3'], [{ bomFormat: 'other', metadata: cycloneDX.metadata }]])(
    'is not %j',
    (value) => expect(describedIn(value)).toBeUndefined(),
  );

  it('is read from any JSON', () => {
    const part = fc.constantFrom('metadata', 'packages', 'relationships', 'documentDescribes', 'name');
    const near = fc
      .tuple(fc.constantFrom(cycloneDX, spdx), part, fc.jsonValue())
      .map(([sbom, name, value]) => ({ ...sbom, [name]: value }));
    fc.assert(
      fc.property(near, (value) => {
        for (const digest of describedIn(value) ?? []) expect(digest).toMatch(/^sha256:[0-9a-f]{64}$/);
      }),
    );
  });
});

describe('an SBOM is recognised', () => {
  it.each([
    ...[
      'text/spdx',
      'text/spdx+xml',
      'application/spdx+json',
      'application/spdx+yaml',
      'application/vnd.spdx+json',
    ],
    ...['application/vnd.cyclonedx', 'application/vnd.cyclonedx+xml', 'application/x.vnd.cyclonedx+protobuf'],
    ...['application/vnd.cyclonedx+json;version=1.6', 'Application/vnd.CycloneDX+JSON ; version=1.5'],
    ...['application/vnd.syft+json', 'application/vnd.github.dependency-snapshot+json'],
  ])('by its media type: %s', (type) => expect(isSbomType(type)).toBe(true));
  it.each([
    'application/json',
    'text/plain',
    'application/vnd.spdxer+json',
    'application/vnd.github+json',
    '',
  ])('is not of media type %s', (type) => expect(isSbomType(type)).toBe(false));

  it.each([
    ...['https://spdx.dev/Document', 'https://spdx.dev/Document/v2.3', 'https://spdx.dev/document/'],
    ...['https://cyclonedx.org/bom', 'https://cyclonedx.org/bom/v1.6', 'https://cyclonedx.org/schema'],
    'https://syft.dev/bom',
  ])('by its predicate: %s', (type) => expect(isSbomPredicate(type)).toBe(true));
  it.each([
    'https://slsa.dev/provenance/v1',
    'https://spdx.dev/Documents',
    'https://evil.dev/spdx.dev/Document',
    '',
  ])('is not of predicate %s', (type) => expect(isSbomPredicate(type)).toBe(false));

  it('by the predicate that cosign has wrapped', () => {
    const packed = (value: unknown) => wrappedFormat({ Data: JSON.stringify(value), Timestamp: '' });
    expect(packed(cycloneDX)).toBe('application/vnd.cyclonedx+json');
    expect(packed(spdx)).toBe('application/spdx+json');
    expect(packed({ artifacts: [], descriptor: { name: 'syft' } })).toBe('application/vnd.syft+json');
    expect(packed({ artifacts: [], descriptor: { name: 'grype' } })).toBe(undefined);
    for (const other of [undefined, 5, {}, { Data: '{' }, { Data: '[]' }, { Data: {} }])
      expect(wrappedFormat(other)).toBe(undefined);
  });
});
