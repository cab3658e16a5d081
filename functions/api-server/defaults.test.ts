import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '#shared/base/telemetry';
import { openEmbeddedStore, type Store } from '#shared/kubernetes/storage';
import { applyDefaults, loopbackCaller } from './defaults.ts';
import { createArcApiServer } from './index.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const type = (name: string, template: string) =>
  `apiVersion: arc.opendefense.cloud/v1alpha1\nkind: ClusterArtifactType\nmetadata: { name: ${name} }\n` +
  `spec: { rules: { srcTypes: [oci], dstTypes: [oci] }, workflowTemplateRef: { name: ${template}, clusterScope: true } }\n`;

let folder: string;
let store: Store;
beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-defaults-'));
  await mkdir(path.join(folder, 'manifests'));
  store = await openEmbeddedStore({ folder: path.join(folder, 'store') });
});
afterEach(async () => {
  await store.close();
  await rm(folder, { recursive: true });
});

const write = (name: string, text: string) => writeFile(path.join(folder, 'manifests', name), text);

/** The API, the caller inside of it, and what the folder holds applied by it. */
function start(failFirst = 0) {
  const caller = loopbackCaller(() => Promise.resolve(undefined));
  const api = createArcApiServer({
    store,
    authenticate: caller.authenticator,
    authorize: async (user) => ({ allowed: user.groups.includes('system:masters') }),
  });
  let failures = failFirst;
  const send = (request: Request) =>
    failures-- > 0 ? new Response('not yet', { status: 503 }) : api.app.fetch(caller.stamp(request));
  const apply = () =>
    applyDefaults({
      folder: path.join(folder, 'manifests'),
      send,
      log,
      signal: AbortSignal.timeout(10_000),
    });
  const read = async (name: string, stamp = caller.stamp) => {
    const url = `http://loopback/apis/arc.opendefense.cloud/v1alpha1/clusterartifacttypes/${name}`;
    const answer = await api.app.fetch(stamp(new Request(url)));
    const body = (await answer.json()) as { spec?: { workflowTemplateRef: { name: string } } };
    return { status: answer.status, template: body.spec?.workflowTemplateRef.name };
  };
  return { apply, read };
}

describe('applyDefaults', () => {
  it('creates missing objects and changes those that differ', async () => {
    const { apply, read } = start();
    await write('types.yaml', `${type('one', 'first')}---\n${type('two', 'first')}`);
    await apply();
    await write('types.yaml', type('two', 'second'));
    await apply();
    expect(await read('one')).toEqual({ status: 200, template: 'first' });
    expect(await read('two')).toEqual({ status: 200, template: 'second' });
  });

  it('waits for a server that is not ready', async () => {
    const { apply, read } = start(2);
    await write('types.yaml', type('one', 'first'));
    await apply();
    expect(await read('one')).toMatchObject({ status: 200 });
  });

  it('skips objects that are refused or of foreign kinds, and continues', async () => {
    const { apply, read } = start();
    await write('a.yaml', 'apiVersion: v1\nkind: Secret\nmetadata: { name: a }\n');
    await write('b.yaml', type('Bad_Name', 'first'));
    await write('c.yaml', type('good', 'first'));
    await apply();
    expect(await read('good')).toMatchObject({ status: 200 });
  });

  it('recognises only the token of this process', async () => {
    const { read } = start();
    expect(await read('one', (request) => request)).toMatchObject({ status: 403 });
  });
});
