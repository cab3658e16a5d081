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
    ...artifactWorkflow(child, { status: { phase: 'Succeeded', completionTime: '2026-01-02T03:05:00Z' } }),
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

/** Answers one list after the other, in this order of kinds; its watches bring nothing. */
function listing(kinds: readonly string[]): KubeClient {
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
  const watch = async function* (_kind: Kind, _selection: unknown, signal: AbortSignal) {
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  };
  return { list, watch } as unknown as KubeClient;
}

describe('the start of the bridge', () => {
  it('wakes the same objects whatever the order in which kinds are listed', async () => {
    let taken: string[] = [];
    const server = createServer((request, response) => {
      const { headers } = request;
      taken.push(`${headers['ce-kind']} ${headers['ce-name']} ${headers['ce-reason']}`);
      request.resume().on('end', () => response.writeHead(202).end());
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const everyOrder = fc.shuffledSubarray(listed, { minLength: listed.length });
    try {
      await fc.assert(
        fc.asyncProperty(everyOrder, async (kinds) => {
          taken = [];
          const control = new AbortController();
          const metrics = createMetrics();
          const bridge = startBridge({
            api: listing(kinds),
            sink: { url },
            log: createLogger({ name: 'test', level: 'silent' }),
            metrics,
            signal: control.signal,
          });
          await bridge.synced;
          await expect.poll(() => bridge.depth, { timeout: 5_000, interval: 5 }).toBe(0);
          expect(taken.toSorted()).toEqual(unsettled);
          expect(metrics.expose()).toContain(`arc_bridge_unsettled ${unsettled.length}\n`);
          control.abort();
          await bridge.done;
        }),
        { numRuns: 40 },
      );
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
