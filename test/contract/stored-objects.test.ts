import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { KubeObject } from '#shared/base/meta';
import { artifactTypes, artifactWorkflows, clusterArtifactTypes, endpoints, orders } from '#shared/domain';
import type { Kind } from '#shared/kubernetes/client';
import type { Store } from '#shared/kubernetes/storage';
import { startApi, type TestApi } from '../fixtures/standalone/api-server.ts';

const folder = 'test/fixtures/stored-objects';
const kinds: readonly Kind[] = [artifactTypes, artifactWorkflows, clusterArtifactTypes, endpoints, orders];

/** What earlier trees, and the public Go ARC, have left in etcd: `<resource>.[<namespace>.]<name>.json`, each as it was stored. */
describe.each(readdirSync(folder))('objects stored by %s', (release) => {
  const files = readdirSync(path.join(folder, release));
  let api: TestApi;
  let store: Store;
  beforeAll(async () => {
    api = await startApi({
      wrapStore: (opened) => {
        store = opened;
        return opened;
      },
    });
    for (const file of files) {
      const key = file.replace(/\.json$/, '').replaceAll('.', '/');
      const value = JSON.stringify(stored(release, file));
      await store.create(`/registry/arc.opendefense.cloud/${key}`, Buffer.from(value));
    }
  });
  afterAll(() => api?.[Symbol.asyncDispose]());

  it.each(files)('%s is read as it is, listed, and can be written', async (file) => {
    const object = stored(release, file);
    const kind = kinds.find((one) => one.kind === object.kind) ?? expect.fail(`which kind is ${file}?`);
    const read = await api.admin.get(kind, object.metadata);
    expect(read).toMatchObject(object);
    const { items } = await api.admin.list(kind, object.metadata);
    expect(items.map(({ metadata }) => metadata.name)).toContain(object.metadata.name);
    const labels = { 'arc.test/written': 'true' };
    const written = await api.admin.mergePatch(kind, object.metadata, { metadata: { labels } });
    const { managedFields: _owners, ...metadata } = object.metadata;
    const { status: _status, ...rest } = object as KubeObject & { status?: object };
    // The types of the Go ARC have an empty status, which ours have not.
    const kept = kind === clusterArtifactTypes ? rest : object;
    const merged = { ...metadata, labels: { ...metadata.labels, ...labels } };
    expect(written).toMatchObject({ ...kept, metadata: merged });
  });
});

function stored(release: string, file: string): KubeObject {
  return JSON.parse(readFileSync(path.join(folder, release, file), 'utf8')) as KubeObject;
}
