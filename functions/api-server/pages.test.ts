import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseManifests } from '#shared/local';
import { type ArcServer, startArcServer } from './testing/arc-server.ts';
import { create, manifestsOf, readPage } from './testing/pages.ts';

const group = 'arc.opendefense.cloud/v1alpha1';
const types = 'knative/base/artifact-types';

let server: ArcServer;
beforeAll(async () => {
  server = await startArcServer();
  const shipped = (await readdir(types)).filter((file) => file !== 'kustomization.yaml');
  const files = await Promise.all(shipped.map((file) => manifestsOf(`${types}/${file}`)));
  for (const type of files.flat()) expect((await create(server, type)).status).toBe(201);
  for (const name of ['source', 'destination']) await seenRegistry(name);
});
afterAll(() => server.close());

/** Makes an Endpoint that track-credentials has looked at. */
async function seenRegistry(name: string): Promise<void> {
  const spec = { type: 'oci', remoteURL: `https://${name}.example.com` };
  const metadata = { name, namespace: 'demo' };
  await create(server, { apiVersion: group, kind: 'Endpoint', metadata, spec });
  const status = { observedGeneration: 1, secretGeneration: 0 };
  const at = `/apis/${group}/namespaces/demo/endpoints/${name}/status`;
  expect((await server.call('PATCH', at, { status })).status).toBe(200);
}

/** What a page has to be applied: blocks of YAML, or parts of one, that begin with an apiVersion. */
function examplesOf(page: string): string[] {
  return [...page.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)]
    .flatMap(([, block = '']) => block.split(/\n\n(?=\S)/))
    .filter((block) => block.startsWith('apiVersion:'));
}

describe.each([
  ['docs/orders.md', ['images', 'charts', 'files', 'inner-registry', 'once']],
  ['docs/bundles.md', ['disk', 'release']],
  ['docs/extending.md', ['report', 'oci-signed']],
])('%s', (file, expected) => {
  it('has manifests that the API server takes', async () => {
    const objects = examplesOf(await readPage(file)).flatMap((text) => parseManifests(text, file));
    const ours = objects.filter(({ apiVersion }) => apiVersion === group);
    expect(ours.map(({ metadata }) => metadata.name)).toEqual(expect.arrayContaining(expected));
    for (const object of ours) {
      const { status, body, warnings } = await create(server, object);
      expect([object.metadata.name, status, body.message, warnings]).toEqual([
        object.metadata.name,
        201,
        undefined,
        undefined,
      ]);
    }
  });
});
