import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { KubeObject } from '#shared/base/meta';
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  type Order,
  orders,
  type Workflow,
  workflows,
} from '#shared/domain';
import type { Kind, KubeClient } from '#shared/kubernetes/client';
import { apply as create } from '../../../scripts/demo/apply.ts';
import { eventually } from '../../../shared/base/testing/eventually.ts';
import { spawnStandalone } from '../../fixtures/standalone/process.ts';
import { ended } from './conduit.ts';
import type { Registries } from './images.ts';
import { apply, kubectl } from './kubectl.ts';
import { orderOf } from './team.ts';

const minutes = 60_000;
const name = 'alike';

/** One Order, carried out by Argo's pods and by the executor of the standalone: what both say of it is the same. */
export function describeAlike(registries: () => Registries): void {
  it('says the same of an Order as the standalone does', { timeout: 10 * minutes }, async () => {
    const { seed, source, destination } = registries();
    const { manifests = [] } = JSON.parse(await registries().manifest(`${source}/library/app:1.0`)) as {
      manifests?: { digest: string }[];
    };
    await seed('chaos/alike', '1.0');
    const other = manifests[0]?.digest;
    const order = orderOf(name, [
      { name: 'good', type: 'oci', spec: { image: 'chaos/alike:1.0', override: 'alike/good:1.0' } },
      { name: 'absent', type: 'oci', spec: { image: 'chaos/absent:1.0', override: 'alike/absent:1.0' } },
      { name: 'other', type: 'oci', spec: { image: 'chaos/alike:1.0', override: `alike/other@${other}` } },
    ]) as Order;

    await apply(order);
    expect(await ended('team', name)).toBe('Failed');
    const onArgo = await told(async (kind) => {
      const list = JSON.parse(await kubectl('-n', 'team', 'get', kind.plural, '-o', 'json'));
      return list.items;
    });
    await kubectl('-n', 'team', 'delete', 'order', name);

    const folder = await mkdtemp(path.join(os.tmpdir(), 'arc-alike-'));
    const standalone = await spawnStandalone({ folder });
    try {
      const { admin } = standalone;
      // Another part of the same registry: nothing is there already.
      for (const object of tenant(source, `${destination}/standalone`))
        await create(admin, object, AbortSignal.timeout(minutes));
      await admin.create(orders, order);
      await eventually('the Order to end in the standalone', 2 * minutes, async () => {
        const found = await admin.get(orders, { name, namespace: 'team' });
        expect(found?.status?.phase, found?.status?.message).toBe('Failed');
      });
      const here = await told((kind) => listed(admin, kind));
      const asOnArgo = (text: string) =>
        text
          .replaceAll(source, 'source.registries.svc:5000')
          .replaceAll(destination, 'destination.registries.svc:5000')
          .replaceAll('/standalone/', '/mirror/');
      expect(JSON.parse(asOnArgo(JSON.stringify(here)))).toEqual(onArgo);
    } finally {
      await standalone.stop();
      await rm(folder, { recursive: true, force: true });
    }
  });
}

async function listed<T extends KubeObject>(api: KubeClient, kind: Kind<T>): Promise<T[]> {
  return (await api.list(kind, { namespace: 'team' })).items;
}

/** What the status of each ArtifactWorkflow and its Workflow says, by artifact; without names and times, which differ between two runs. */
async function told(
  list: <T extends KubeObject>(kind: Kind<T>) => Promise<T[]>,
): Promise<Record<string, object>> {
  const found = (await list<ArtifactWorkflow>(artifactWorkflows)).filter(({ metadata }) =>
    metadata.name.startsWith(`${name}-`),
  );
  const argo = await list<Workflow>(workflows);
  return Object.fromEntries(
    found.map(({ spec, status }) => {
      const workflow = argo.find(({ metadata }) => metadata.name === status?.workflowRef?.name);
      const { phase, message, results, attempts } = status ?? {};
      const { nodes = {}, outputs } = workflow?.status ?? {};
      return [
        spec.artifact?.name ?? '',
        {
          phase,
          message,
          results,
          attempts,
          workflow: { phase: workflow?.status?.phase, message: workflow?.status?.message, outputs },
          nodes: Object.values(nodes).map((node) => ({
            type: node.type,
            phase: node.phase,
            message: node.message,
          })),
        },
      ];
    }),
  );
}

function tenant(source: string, destination: string): KubeObject[] {
  const namespace = 'team';
  const apiVersion = 'arc.opendefense.cloud/v1alpha1';
  const endpoint = (name: string, spec: object) => ({
    apiVersion,
    kind: 'Endpoint',
    metadata: { name, namespace },
    spec: { type: 'oci', ...spec },
  });
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } },
    {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'source-credentials', namespace },
      stringData: { username: 'reader', password: 'moves-images' },
    } as KubeObject,
    endpoint('source', { remoteURL: `http://${source}`, secretRef: { name: 'source-credentials' } }),
    endpoint('destination', { remoteURL: `http://${destination}` }),
  ];
}
