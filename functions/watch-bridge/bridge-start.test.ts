import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { ArtifactStatus, Order } from '#shared/domain';
import type { Kind, KubeClient } from '#shared/kube';
import type { KubeObject } from '#shared/meta';
import { createLogger, createMetrics } from '#shared/telemetry';
import { fc } from '#shared/testing';
import { artifactWorkflow, endpoint, ociType, order } from '../../shared/domain/testing/objects.ts';
import { startBridge } from './index.ts';

const listed = [
  'Order',
  'ArtifactWorkflow',
  'ArtifactType',
  'ClusterArtifactType',
  'Endpoint',
  'Workflow',
  'CronWorkflow',
  'WorkflowTemplate',
  'ClusterWorkflowTemplate',
  'ServiceAccount',
];

const condition = { reason: 'x', message: 'x', lastTransitionTime: '2026-01-02T03:04:05Z' };

/** An Order whose status is up to date, but for what `status` and `annotations` say. */
function settledOrder(name: string, status: object = {}, annotations: Record<string, string> = {}): Order {
  const one = order(name, ['a:1']);
  return {
    ...one,
    metadata: { ...one.metadata, annotations },
    status: {
      phase: 'Succeeded',
      observedGeneration: 1,
      endpointGenerations: { source: 2, destination: 1 },
      conditions: [{ type: 'Ready', status: 'True', ...condition }],
      ...status,
    },
  };
}

function failed(entry: Partial<ArtifactStatus> = {}, key = 'index-0') {
  const shown = { artifactIndex: 0, phase: 'Failed', completionTime: '2026-01-02T03:04:05Z', ...entry };
  return { phase: 'Failed', conditions: [], artifactWorkflows: { [key]: shown } };
}

const child = 'behind-0123456789abcdef';
const objects = [
  settledOrder('current'),
  settledOrder('stale', { endpointGenerations: { source: 1, destination: 1 } }),
  settledOrder('edited', { observedGeneration: 0 }),
  settledOrder('forced', {}, { 'arc.opendefense.cloud/force-at': '1767323045' }),
  settledOrder(
    'force-answered',
    { lastForceAt: '2026-01-02T03:04:05Z' },
    { 'arc.opendefense.cloud/force-at': '1767323045' },
  ),
  settledOrder('failed', failed()),
  settledOrder('retried', failed(), { 'arc.opendefense.cloud/retry-at': '1767323046' }),
  settledOrder('behind', failed({ phase: 'Failed' }, '0123456789abcdef')),
  order('new', ['a:1']),
  {
    ...artifactWorkflow(child, {
      status: { phase: 'Succeeded', completionTime: '2026-01-02T03:05:00Z', observedGeneration: 1 },
    }),
    metadata: {
      ...artifactWorkflow(child).metadata,
      ownerReferences: [
        { apiVersion: 'v1', kind: 'Order', name: 'behind', uid: 'uid-behind', controller: true },
      ],
    },
  },
  artifactWorkflow('open'),
  {
    ...endpoint('source'),
    metadata: { ...endpoint('source').metadata, generation: 2 },
    status: { observedGeneration: 2 },
  },
  endpoint('destination'),
  { ...endpoint('unseen'), status: {} },
  ociType(),
] as unknown as KubeObject[];

const unsettled = [
  'ArtifactWorkflow open resync',
  'Endpoint unseen resync',
  'Order behind resync',
  'Order edited resync',
  'Order forced resync',
  'Order new resync',
  'Order retried resync',
  'Order stale resync',
];

/** Answers one list after the other, in this order of kinds; its watches bring these states of objects and no more. */
function listing(kinds: readonly string[], modified: readonly KubeObject[] = []): KubeClient {
  const gates = new Map(kinds.map((kind) => [kind, Promise.withResolvers<void>()]));
  const list = async ({ kind }: Kind) => {
    await gates.get(kind)?.promise;
    const items = objects.filter((object) => object.kind === kind);
    return { items, resourceVersion: '1' };
  };
  const open = async () => {
    for (const kind of kinds) {
      gates.get(kind)?.resolve();
      for (let pause = 0; pause < 3; pause++) await turn();
    }
  };
  void open();
  const watch = async function* ({ kind }: Kind, _selection: unknown, signal: AbortSignal) {
    for (const object of modified) if (object.kind === kind) yield { type: 'MODIFIED', object };
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  };
  return { list, watch } as unknown as KubeClient;
}

/** What the broker takes of a bridge that starts, and the exposed metrics. */
async function wakesAtStart(api: KubeClient): Promise<{ taken: string[]; metrics: string }> {
  const taken: string[] = [];
  const server = createServer((request, response) => {
    const { headers } = request;
    taken.push(`${headers['ce-kind']} ${headers['ce-name']} ${headers['ce-reason']}`);
    request.resume().on('end', () => response.writeHead(202).end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const control = new AbortController();
  const metrics = createMetrics();
  const bridge = startBridge({
    api,
    sink: { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`) },
    log: createLogger({ name: 'test', level: 'silent' }),
    metrics,
    signal: control.signal,
  });
  try {
    await bridge.synced;
    await expect.poll(() => bridge.depth, { timeout: 5_000, interval: 5 }).toBe(0);
    return { taken: taken.toSorted(), metrics: metrics.expose() };
  } finally {
    control.abort();
    await bridge.done;
    server.closeAllConnections();
    server.close();
  }
}

describe('the start of the bridge', () => {
  it('wakes the same objects whatever the order in which kinds are listed', async () => {
    const everyOrder = fc.shuffledSubarray(listed, { minLength: listed.length });
    await fc.assert(
      fc.asyncProperty(everyOrder, async (kinds) => {
        const { taken, metrics } = await wakesAtStart(listing(kinds));
        expect(taken).toEqual(unsettled);
        expect(metrics).toContain(`arc_bridge_unsettled ${unsettled.length}\n`);
      }),
      { numRuns: 40 },
    );
  });

  it('does not lose a type that is edited after its list and before the last one', async () => {
    const edited = { ...ociType(), metadata: { ...ociType().metadata, resourceVersion: '2' } };
    const type = { ...edited, spec: { ...edited.spec, ttlAfterFinished: '1h' } } as unknown as KubeObject;
    const kinds = ['ClusterArtifactType', ...listed.filter((kind) => kind !== 'ClusterArtifactType')];
    const { taken } = await wakesAtStart(listing(kinds, [type]));
    expect(taken).toEqual(expect.arrayContaining([...unsettled, 'Order current inputs']));
  });
});
