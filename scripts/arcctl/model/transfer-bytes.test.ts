import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ArtifactWorkflow } from '#shared/domain';
import { type Registry, seedImage, startRegistry } from '#shared/local';
import { artifactWorkflow, endpoint } from '../../../shared/domain/testing/objects.ts';
import { transferBytes } from './transfer-bytes.ts';

let registries: Registry[];
let web: Server;
beforeAll(async () => {
  registries = await Promise.all([startRegistry(), startRegistry()]);
  web = createServer((_, response) => response.setHeader('content-length', 12).end('twelve bytes')).listen(
    0,
    '127.0.0.1',
  );
  await new Promise((done) => web.once('listening', done));
});
afterAll(async () => {
  web?.close();
  await Promise.all((registries ?? []).map((each) => each.close()));
});

function bytesOf(source: string, destination: string, type: string, spec: object) {
  const { port } = web.address() as AddressInfo;
  const [from, to] = registries;
  const endpoints = [
    endpoint('registry', { remoteURL: from?.url ?? '' }),
    endpoint('mirror', { remoteURL: to?.url ?? '' }),
    endpoint('web', { type: 'http', remoteURL: `http://127.0.0.1:${port}` }),
    endpoint('bundles', { type: 'bundle', remoteURL: 'file:///bundles' }),
  ];
  const known = new Map(endpoints.map((each) => [each.metadata.name, each]));
  const made = artifactWorkflow('w');
  const workflow = {
    ...made,
    spec: { ...made.spec, type, srcRef: { name: source }, dstRef: { name: destination }, artifact: { spec } },
  } as ArtifactWorkflow;
  return transferBytes(workflow, known, { DOCKER_CONFIG: '/nowhere' }, AbortSignal.timeout(30_000));
}

it('of a file are those of the file', async () => {
  const spec = { path: 'a.txt', override: 'files/a:1' };
  expect(await bytesOf('web', 'mirror', 'file', spec)).toEqual({ state: 'known', toSend: 12, total: 12 });
});

it('of several tags are those of all of them, and what they share counts once', async () => {
  const [from] = registries;
  const app = { platforms: ['linux/amd64'], layers: 1, layerBytes: 10_000, signature: false };
  if (from) await seedImage(from, 'team/app', '1.0', app);
  const one = await bytesOf('registry', 'mirror', 'oci', { image: 'team/app:1.0' });
  const contents = from?.contents.get('team/app');
  contents?.tags.set('1.1', contents.tags.get('1.0') ?? '');
  const all = await bytesOf('registry', 'mirror', 'oci', { image: 'team/app', tags: { match: '*' } });
  if (one.state !== 'known' || all.state !== 'known') throw new Error('they are known');
  expect(all.total).toBe(2 * one.total);
  expect(all.toSend - one.toSend).toBeLessThan(5000);
});

it('of a bundle are not known before it is made', async () => {
  expect(await bytesOf('registry', 'bundles', 'bundle-export', { name: 'b' })).toEqual({
    state: 'unknown',
    why: expect.stringContaining('bundle'),
  });
});
