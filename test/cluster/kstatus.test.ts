import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { applyMergePatch, type KubeObject } from '#shared/base/meta';
import {
  type ArtifactWorkflow,
  type EndpointStatus,
  endpointConditions,
  phaseOf,
  syncedStatus,
} from '#shared/domain';
import { artifactWorkflow, endpoint, workflowOf } from '../../shared/domain/testing/objects.ts';
import { reachedStates } from '../chaos/model/states.ts';
import {
  arcPath,
  type Cluster,
  corePath,
  describeCluster,
  startCluster,
} from '../fixtures/cluster/cluster.ts';
import { newNamespace } from '../fixtures/cluster/cluster-objects.ts';

const namespace = 'team';
const now = new Date('2026-01-01T00:00:00Z');

/** What each phase of an Order and of an ArtifactWorkflow means, in the words of kstatus. */
const meanings: Readonly<Record<string, string>> = {
  Pending: 'InProgress',
  Queued: 'InProgress',
  Running: 'InProgress',
  // Neither failed nor done: it goes on when that is taken back.
  Suspended: 'InProgress',
  Cancelled: 'InProgress',
  Succeeded: 'Current',
  Active: 'Current',
  Scheduled: 'Current',
  Failed: 'Failed',
  Error: 'Failed',
  Stopped: 'Failed',
};

/** What we mean to say by the object as it is. */
function meaning({ kind, metadata, status = {} }: KubeObject): string {
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  const { phase = 'Pending', observedGeneration } = status as { phase?: string; observedGeneration?: number };
  if (observedGeneration !== metadata.generation) return 'InProgress';
  if (kind === 'Endpoint') return meaningOfEndpoint(status as EndpointStatus);
  return meanings[phase] ?? `unknown phase ${phase}`;
}

/** An Endpoint has no phase: it can be used, or it cannot, or nobody knows yet. Without probes it is as it should be once it was looked at. */
function meaningOfEndpoint({ conditions = [] }: EndpointStatus): string {
  const ready = conditions.find(({ type }) => type === 'Ready')?.status ?? 'True';
  return { True: 'Current', False: 'Failed', Unknown: 'InProgress' }[ready];
}

/** What a probe of an Endpoint may find. */
function statesByProbe(): Map<string, KubeObject> {
  const one = endpoint('one');
  const good = { status: 'True', reason: 'Valid', message: 'good' } as const;
  return new Map(
    (['True', 'False', 'Unknown'] as const).map((status) => {
      const findings = { validated: good, reachable: { ...good, status }, authenticated: good };
      const conditions = endpointConditions(one, findings, now);
      return [
        `Endpoint that is reachable: ${status}`,
        { ...one, status: { observedGeneration: 1, conditions } },
      ];
    }),
  );
}

/** States that Argo brings about and the model does not. */
function statesByArgo(): Map<string, KubeObject> {
  const one = artifactWorkflow('one');
  const states = [
    [{ phase: 'Pending', message: 'Workflow processing has been postponed' }, {}],
    [{ phase: 'Error', message: 'the template is gone' }, {}],
    [{ phase: 'Failed', message: 'Stopped with strategy Terminate' }, { shutdown: 'Terminate' }],
  ] as const;
  return new Map(
    states.map(([argo, spec]) => {
      const run = { ...workflowOf(one, 'one', argo), spec };
      const status = syncedStatus(one, run, now);
      return [
        `ArtifactWorkflow whose Workflow is ${argo.phase}`,
        applyMergePatch(one, { status }) as KubeObject,
      ];
    }),
  );
}

describeCluster(
  'kstatus',
  (machine) => {
    let cluster: Cluster;

    beforeAll(async () => {
      cluster = await startCluster(machine, { store: 'embedded' });
      await cluster.api.must('POST', corePath('namespaces'), newNamespace(namespace));
    }, 180_000);
    afterAll(() => cluster?.stop(), 60_000);

    /** Brings an object into this state by requests, and reads it back. */
    async function store(object: KubeObject, at: number): Promise<KubeObject> {
      const { apiVersion, kind, metadata, spec, status } = object;
      const collection = arcPath(`${kind.toLowerCase()}s`, namespace);
      const name = `state-${at}`;
      const { finalizers = [], deletionTimestamp, generation = 1 } = metadata;
      const held = deletionTimestamp !== undefined ? { finalizers } : {};
      const made = await cluster.api.must('POST', collection, {
        apiVersion,
        kind,
        spec,
        metadata: { name, ...held },
      });
      if (deletionTimestamp !== undefined) await cluster.api.must('DELETE', `${collection}/${name}`);
      if (status !== undefined) {
        const { observedGeneration } = status as { observedGeneration?: number };
        const seen = (made.metadata.generation ?? 1) - (generation - (observedGeneration ?? 0));
        await cluster.api.must('PATCH', `${collection}/${name}/status`, {
          status: { ...status, ...(observedGeneration !== undefined && { observedGeneration: seen }) },
        });
      }
      return (await cluster.api.must('GET', `${collection}/${name}`)) as KubeObject;
    }

    async function answers(objects: readonly KubeObject[]): Promise<string[]> {
      const running = promisify(execFile)(path.join(machine.assets, 'kstatus'), { maxBuffer: 8 << 20 });
      running.child.stdin?.end(objects.map((object) => `${JSON.stringify(object)}\n`).join(''));
      const lines = (await running).stdout.trim().split('\n');
      return lines.map((line) => (JSON.parse(line) as { status: string }).status);
    }

    it('reads every state of an Order, an ArtifactWorkflow and an Endpoint as we mean it', async () => {
      const states = new Map([...(await reachedStates()), ...statesByArgo(), ...statesByProbe()]);
      const names = [...states.keys()];
      const stored: KubeObject[] = [];
      for (const object of states.values()) stored.push(await store(object, stored.length));
      const said = await answers(stored);
      const table = (column: (object: KubeObject, at: number) => string | undefined) =>
        Object.fromEntries(stored.map((object, at) => [names[at], column(object, at)]));
      expect(table((_, at) => said[at])).toEqual(table(meaning));
      // Every phase that there is was reached.
      const phases = stored.map((object) =>
        object.kind === 'ArtifactWorkflow'
          ? phaseOf(object as ArtifactWorkflow)
          : (object.status as { phase?: string } | undefined)?.phase,
      );
      expect(Object.keys(meanings).filter((phase) => !phases.includes(phase))).toEqual([]);
    }, 120_000);
  },
  'kstatus',
);
