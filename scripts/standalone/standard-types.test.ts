import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '#shared/base/telemetry';
import { clusterArtifactTypes, clusterWorkflowTemplates } from '#shared/domain';
import { startOwnRegistries } from './own-registries.ts';
import { type Standalone, startStandalone } from './standalone.ts';
import { applyStandardTypes } from './standard-types.ts';

let folder: string;
let standalone: Standalone;
const received: string[] = [];
const subscriber = createServer((request, response) => {
  void text(request).then(() => {
    received.push(String(request.headers['ce-type']));
    response.writeHead(202).end();
  });
});

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'standard-types-'));
  await new Promise<void>((resolve) => subscriber.listen(0, '127.0.0.1', resolve));
  const { port } = subscriber.address() as { port: number };
  const log = createLogger({ name: 'test', level: 'silent' });
  const sink = new URL(`http://127.0.0.1:${port}/events`);
  standalone = await startStandalone({ folder, port: 0, programs: {}, log, sink });
});

afterAll(async () => {
  await standalone.close();
  subscriber.close();
  await rm(folder, { recursive: true });
});

describe('applyStandardTypes', () => {
  it('brings every type that ARC ships and the templates that they name', async () => {
    expect(await applyStandardTypes(standalone.transport)).toEqual([]);
    const { items } = await standalone.admin.list(clusterArtifactTypes);
    expect(items.map(({ metadata }) => metadata.name)).toEqual(
      expect.arrayContaining(['bundle-export', 'bundle-import', 'file', 'helm', 'oci']),
    );
    for (const { spec } of items)
      expect(
        await standalone.admin.get(clusterWorkflowTemplates, { name: spec.workflowTemplateRef.name }),
      ).toBeDefined();
  });

  it('leaves alone what somebody has changed, and says so', async () => {
    const patch = {
      spec: { rules: { srcTypes: ['http', 's3', 'oci'] }, workflowTemplateRef: { name: 'mine' } },
    };
    await standalone.admin.mergePatch(clusterArtifactTypes, { name: 'file' }, patch);
    const [line, ...more] = await applyStandardTypes(standalone.transport);
    expect(more).toEqual([]);
    expect(line).toMatch(/^ClusterArtifactType file keeps your change: .*workflowTemplateRef/);
    expect((await standalone.admin.get(clusterArtifactTypes, { name: 'file' }))?.spec).toMatchObject(
      patch.spec,
    );
  });
});

describe('a sink', () => {
  it('gets the events of Orders and artifacts, and no others', async () => {
    const registries = await startOwnRegistries(standalone.transport, folder);
    const { send } = standalone.transport;
    const path = '/apis/arc.opendefense.cloud/v1alpha1/namespaces/trial/orders';
    const { file } = registries.firstOrder;
    const { parseAllDocuments } = await import('yaml');
    const { readFile } = await import('node:fs/promises');
    for (const document of parseAllDocuments(await readFile(file, 'utf8')))
      await send({ method: 'POST', path, body: document.toJS() as object });
    const types = ['order.accepted', 'artifact.started', 'artifact.succeeded', 'order.completed'];
    await expect
      .poll(() => new Set(received), { timeout: 45_000 })
      .toEqual(new Set(types.map((type) => `cloud.opendefense.arc.${type}.v1`)));
    await registries.close();
  });
});
