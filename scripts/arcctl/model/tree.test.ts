import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import type { ArtifactWorkflow, Order, Workflow } from '#shared/domain';
import { artifactWorkflow, namespace, order, workflowOf } from '../../../shared/domain/testing/objects.ts';
import type { ShownPod } from '../core/pod.ts';
import { treeOf } from './tree.ts';
import { treeRows } from './tree-rows.ts';

const current = '1111111111111111';
const earlier = '2222222222222222';

function version(key: string, over: { revision: number; id?: string; status?: ArtifactWorkflow['status'] }) {
  const base = artifactWorkflow(`order-${key}`);
  const { revision, id = 'label', status = {} } = over;
  const labels = { ...base.metadata.labels, 'arc.opendefense.cloud/artifact': id };
  return { ...base, spec: { ...base.spec, revision }, status, metadata: { ...base.metadata, labels } };
}

function ordered(entries: NonNullable<Order['status']>['artifactWorkflows']): Order {
  const status = { phase: 'Running', observedGeneration: 1, message: 'on its way\nmore' } as const;
  return {
    ...order('order', ['a:1', 'b:1']),
    status: { ...status, ...(entries && { artifactWorkflows: entries }) },
  };
}

function run(owner: ArtifactWorkflow, status: Workflow['status']): Workflow {
  const made = workflowOf(owner, `${owner.metadata.name}-1`, status);
  const labels = { 'arc.opendefense.cloud/artifact-workflow': owner.metadata.name };
  return { ...made, metadata: { ...made.metadata, labels } };
}

const entry = { artifactIndex: 0, phase: 'Running', progress: '1/4' };

describe('the tree of an Order', () => {
  it('has each artifact with its versions, the one in force first, and their Workflows and pods', () => {
    const now = version(current, { revision: 2, status: { phase: 'Running', progress: '2/4' } });
    const before = version(earlier, { revision: 1, status: { phase: 'Succeeded' } });
    const workflow = run(now, { phase: 'Running' });
    const pod: ShownPod = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: {
        name: 'pod',
        namespace,
        labels: { 'workflows.argoproj.io/workflow': workflow.metadata.name },
      },
      status: {
        phase: 'Pending',
        containerStatuses: [{ state: { waiting: { reason: 'ImagePullBackOff', message: 'no such image' } } }],
      },
    };
    const tree = treeOf({
      order: ordered({ [current]: entry }),
      artifactWorkflows: [before, now],
      runs: [workflow],
      pods: [pod],
    });
    expect(tree.artifacts).toMatchObject([
      {
        name: '#0',
        phase: 'Running',
        progress: '2/4',
        source: 'source',
        destination: 'destination',
        versions: [
          {
            name: now.metadata.name,
            inForce: true,
            revision: 2,
            runs: [
              {
                phase: 'Running',
                pods: [{ name: 'pod', reason: 'ImagePullBackOff', message: 'no such image' }],
              },
            ],
          },
          { name: before.metadata.name, inForce: false, revision: 1 },
        ],
      },
      {
        name: '#1',
        phase: 'Pending',
        message: 'identical to another artifact of this Order: copied once',
        versions: [],
      },
    ]);
    expect(tree.left).toEqual([]);
    expect(treeRows(tree).map(([name]) => name)).toEqual([
      'Order team/order',
      '├─ #0 (oci)',
      `│  ├─ ArtifactWorkflow ${now.metadata.name} (revision 2)`,
      `│  │  └─ Workflow ${workflow.metadata.name}`,
      '│  │     └─ Pod pod',
      '│  └─ 1 earlier',
      '└─ #1 (oci)',
    ]);
  });

  it('shows what Argo says of a pod that is gone, and why an artifact waits', () => {
    const owner = version(current, {
      revision: 1,
      status: { phase: 'Failed', message: 'denied', results: { reason: 'denied' } },
    });
    const node = {
      type: 'Pod',
      name: 'order-1',
      phase: 'Failed',
      message: 'main: denied (exit 3)',
      outputs: { exitCode: '3' },
    };
    const held = {
      artifactIndex: 1,
      phase: 'Pending',
      reason: 'EndpointMissing',
      message: 'there is no Endpoint',
    };
    const tree = treeOf({
      order: ordered({
        [current]: { artifactIndex: 0, phase: 'Failed', message: 'denied' },
        'index-1': held,
      }),
      artifactWorkflows: [owner],
      runs: [run(owner, { phase: 'Failed', message: 'main: denied', nodes: { one: node } })],
    });
    const [first, second] = tree.artifacts;
    expect(first?.versions[0]).toMatchObject({
      reason: 'denied',
      runs: [{ pods: [{ name: 'order-1', reason: 'ExitCode 3', message: 'main: denied (exit 3)' }] }],
    });
    expect(second).toMatchObject({ reason: 'EndpointMissing', message: 'there is no Endpoint' });
    expect(treeRows(tree).map(([, , reason, message]) => [reason, message])).toEqual([
      ['', 'on its way'],
      ['', 'denied'],
      ['denied', ''],
      ['', 'main: …'],
      ['ExitCode 3', 'main: … (exit 3)'],
      ['EndpointMissing', 'there is no Endpoint'],
    ]);
  });

  it('takes no ArtifactWorkflow of somebody else, and shows those of artifacts that the Order lists no longer', () => {
    const foreign = { ...version(current, { revision: 1 }) };
    foreign.metadata = { ...foreign.metadata, ownerReferences: [] };
    const gone = version(earlier, { revision: 1, id: 'other' });
    const tree = treeOf({ order: ordered({ [current]: entry }), artifactWorkflows: [foreign, gone] });
    expect(tree.artifacts.flatMap(({ versions }) => versions)).toEqual([]);
    expect(tree.left.map(({ name }) => name)).toEqual([gone.metadata.name]);
  });

  it('keeps the versions of an artifact that was renamed, by the place that they write to', () => {
    const at = (child: ArtifactWorkflow): ArtifactWorkflow => {
      const labels = { ...child.metadata.labels, 'arc.opendefense.cloud/target': 'place' };
      return { ...child, metadata: { ...child.metadata, labels } };
    };
    const now = at(version(current, { revision: 2, id: 'renamed' }));
    const before = at(version(earlier, { revision: 1 }));
    const tree = treeOf({ order: ordered({ [current]: entry }), artifactWorkflows: [now, before] });
    expect(tree.left).toEqual([]);
    expect(tree.artifacts[0]?.versions.map(({ name }) => name)).toEqual([
      now.metadata.name,
      before.metadata.name,
    ]);
  });

  it('shows each ArtifactWorkflow once, whatever the status says', () => {
    const keys = fc.array(fc.constantFrom(current, earlier, 'index-0', 'index-1', 'nothing'), {
      maxLength: 4,
    });
    const indexes = fc.array(fc.nat({ max: 3 }), { minLength: 4, maxLength: 4 });
    const own = [version(current, { revision: 2 }), version(earlier, { revision: 1, id: 'other' })];
    fc.assert(
      fc.property(keys, indexes, (some, places) => {
        const entries = some.map(
          (key, at) => [key, { artifactIndex: places[at] ?? 0, phase: 'Pending' }] as const,
        );
        const tree = treeOf({ order: ordered(Object.fromEntries(entries)), artifactWorkflows: own });
        const shown = [...tree.artifacts.flatMap(({ versions }) => versions), ...tree.left].map(
          ({ name }) => name,
        );
        expect(shown.sort()).toEqual(own.map(({ metadata }) => metadata.name).sort());
        expect(tree.artifacts).toHaveLength(2);
      }),
    );
  });
});
