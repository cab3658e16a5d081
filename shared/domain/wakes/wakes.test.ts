import { describe, expect, it } from 'vitest';
import type { KubeObject } from '#shared/meta';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import { annotations, labels } from '../kinds/well-known.ts';
import { planOrder } from '../plan/plan.ts';
import { workflowFor } from '../submission/workflow.ts';
import { artifactType, endpoint } from '../testing/objects.ts';
import { broken, done, image, inputs, now, order, stored } from '../testing/plan-objects.ts';
import type { Change, WakeIndex } from './change.ts';
import { wakeReasonNames, wakeReasons } from './reasons.ts';
import { wakeTable } from './wake-table.ts';
import { wakesFor, wakingOf } from './wakes.ts';

const anOrder = order([image('a')]);

function made(status: ArtifactWorkflow['status'] = {}): ArtifactWorkflow {
  const [planned] = planOrder(anOrder, inputs()).artifacts;
  if (planned?.state !== 'ready') throw new Error('not ready');
  return stored(planned.workflow, status ?? {});
}

/** One whose Workflow runs. */
function moving(status: ArtifactWorkflow['status'] = {}): ArtifactWorkflow {
  return made({ phase: 'Running', workflowRef: { kind: 'Workflow', name: 'w', attempt: 1 }, ...status });
}

/** One that is being deleted while its Workflow runs. */
const stopped: ArtifactWorkflow = {
  ...moving(),
  metadata: { ...made().metadata, name: 'stopped', uid: 'stopped', deletionTimestamp: now.toISOString() },
};

const sibling: ArtifactWorkflow = {
  ...made(),
  metadata: { ...made().metadata, name: 'sibling', uid: 'sibling' },
};
const elsewhere: ArtifactWorkflow = {
  ...made(),
  metadata: { ...made().metadata, name: 'elsewhere', uid: 'elsewhere' },
};
const source = endpoint('from', { secretRef: { name: 'login' } });

/** Two that wait for a slot. */
const queued: ArtifactWorkflow = {
  ...made(),
  metadata: { ...made().metadata, name: 'queued', uid: 'queued', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec: { ...made().spec, limitedBy: ['from'], parallelism: 1 },
  status: { configSecret: { name: 's' } },
};
const later: ArtifactWorkflow = {
  ...queued,
  metadata: { ...queued.metadata, name: 'later', uid: 'later', creationTimestamp: '2026-01-01T00:00:01Z' },
};

const running = { ...made(), spec: { ...made().spec, parallelism: 1 } };
const submitted = {
  configSecret: { name: 'c' },
  workflowRef: { kind: 'Workflow', name: 'w', attempt: 1 },
} as const;
const narrow = { ...source, spec: { ...source.spec, maxInFlight: 1 } };

const index: WakeIndex = {
  ordersUsingEndpoint: (namespace, name) => (namespace === 'team' && name === 'from' ? [anOrder] : []),
  ordersUsingType: (namespace, name) => (namespace !== 'other' && name === 'oci' ? [anOrder] : []),
  ordersWaitingIn: (namespace) => (namespace === 'team' ? [anOrder] : []),
  ordersUsingTemplate: (namespace, name) => (namespace !== 'other' && name === 'steps' ? [anOrder] : []),
  endpointsUsingSecret: (_, name) => (name === 'login' ? [source] : []),
  order: () => anOrder,
  endpointNamed: (_, name) => (name === 'from' ? narrow : undefined),
  artifactWorkflowNamed: (_, name) =>
    [moving(), stopped, sibling].find(({ metadata }) => metadata.name === name),
  artifactWorkflowsOfArtifact: (_, label) =>
    label === made().metadata.labels?.[labels.artifact] ? [made(), sibling] : [],
  artifactWorkflowsOfTarget: (_, target) => (target === 'shared' ? [made(), elsewhere] : []),
  artifactWorkflowsLimitedBy: (_, name) => (name === 'from' ? [queued, later] : []),
  artifactWorkflowsOfOrder: () => [queued, later],
  artifactWorkflowsUsingEndpoint: (_, name) => (name === 'from' ? [made()] : []),
};

function woken(change: Change): string[] {
  return wakesFor(change, index).map(({ target, reason }) => `${target.kind} ${target.name} ${reason}`);
}

function edited<T extends KubeObject>(object: T, more: object): T {
  return { ...object, ...more };
}

const aw = made().metadata.name;
const argo = workflowFor(made(), 1);
const run = {
  ...argo,
  metadata: { name: 'run', namespace: 'team', uid: 'run', labels: { [labels.artifactWorkflow]: aw } },
};
const ending = workflowFor(stopped, 1);
const rendered = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: aw, namespace: 'team', uid: 's', ownerReferences: argo.metadata.ownerReferences ?? [] },
};
const template: KubeObject = {
  apiVersion: 'argoproj.io/v1alpha1',
  kind: 'WorkflowTemplate',
  metadata: { name: 'steps', namespace: 'team', uid: 't' },
};
const account: KubeObject = {
  apiVersion: 'v1',
  kind: 'ServiceAccount',
  metadata: { name: 'arc-workflow', namespace: 'team', uid: 'a' },
};
const login: KubeObject = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'login', namespace: 'team', uid: 'l', resourceVersion: '1' },
};

const cases: Array<[string, KubeObject | undefined, KubeObject | undefined, string[]]> = [
  ['an Order appears', undefined, anOrder, ['Order release changed']],
  ['an Order goes', anOrder, undefined, []],
  ['an Order gets a status', anOrder, edited(anOrder, { status: { phase: 'Running' } }), []],
  ['an Order is edited', anOrder, edited(anOrder, { spec: {} }), ['Order release changed']],
  [
    'an Order is forced',
    anOrder,
    edited(anOrder, { metadata: { ...anOrder.metadata, annotations: { [annotations.forceAt]: '1' } } }),
    ['Order release changed'],
  ],
  [
    'an Order is to go',
    anOrder,
    edited(anOrder, { metadata: { ...anOrder.metadata, deletionTimestamp: now.toISOString() } }),
    ['Order release changed'],
  ],
  ['an ArtifactWorkflow appears', undefined, made(), [`ArtifactWorkflow ${aw} created`]],
  [
    'one appears that was made by hand',
    undefined,
    edited(made(), { metadata: { ...made().metadata, finalizers: [] } }),
    [`ArtifactWorkflow ${aw} changed`],
  ],
  [
    'it is to be deleted',
    made(),
    edited(made(), { metadata: { ...made().metadata, deletionTimestamp: now.toISOString() } }),
    [`ArtifactWorkflow ${aw} stopping`],
  ],
  ['it is rendered', made(), made({ configSecret: { name: 'c' } }), [`ArtifactWorkflow ${aw} rendered`]],
  [
    'it has finished and its configuration is cleared away',
    made({ ...done, configSecret: { name: 'c' } }),
    made(done),
    [],
  ],
  ['it progresses', moving({ progress: '1/2' }), moving({ progress: '2/2' }), ['Order release children']],
  [
    'it succeeds',
    made({ phase: 'Running' }),
    made(done),
    [`ArtifactWorkflow ${aw} ended`, 'Order release children', 'ArtifactWorkflow sibling slot'],
  ],
  [
    'it is cancelled',
    made(),
    edited(made(), { spec: { ...made().spec, cancel: true } }),
    [
      `ArtifactWorkflow ${aw} changed`,
      `ArtifactWorkflow ${aw} cancelled`,
      'Order release children',
      'ArtifactWorkflow sibling slot',
    ],
  ],
  [
    'it ends as cancelled',
    edited(made({ phase: 'Running' }), { spec: { ...made().spec, cancel: true } }),
    edited(made({ phase: 'Cancelled' }), { spec: { ...made().spec, cancel: true } }),
    [
      `ArtifactWorkflow ${aw} ended`,
      `ArtifactWorkflow ${aw} failed`,
      'Order release children',
      'ArtifactWorkflow sibling slot',
    ],
  ],
  [
    'it fails',
    made({ phase: 'Running' }),
    made(broken),
    [
      `ArtifactWorkflow ${aw} ended`,
      `ArtifactWorkflow ${aw} failed`,
      'Order release children',
      'ArtifactWorkflow sibling slot',
    ],
  ],
  ['it goes', made(done), undefined, ['Order release gone', 'ArtifactWorkflow sibling slot']],
  [
    'an Endpoint appears',
    undefined,
    source,
    ['Endpoint from changed', 'Order release inputs', `ArtifactWorkflow ${aw} inputs`],
  ],
  [
    'an Endpoint is looked at',
    edited(source, { status: {} }),
    source,
    ['Order release inputs', `ArtifactWorkflow ${aw} inputs`],
  ],
  [
    'its credentials turn',
    source,
    edited(source, { status: { ...source.status, secretGeneration: 2 } }),
    ['Endpoint from inputs', 'Order release inputs', `ArtifactWorkflow ${aw} inputs`],
  ],
  ['it is probed', source, edited(source, { status: { ...source.status, lastProbeTime: 'x' } }), []],
  [
    'it has room again',
    edited(narrow, { status: { ...source.status, inFlight: ['x'] } }),
    narrow,
    ['ArtifactWorkflow queued slot'],
  ],
  [
    'it ends, and its Order runs one at a time',
    edited(running, {
      status: { phase: 'Running', workflowRef: { kind: 'Workflow', name: 'w', attempt: 1 } },
    }),
    edited(running, { status: { phase: 'Succeeded', completionTime: 'x' } }),
    [
      `ArtifactWorkflow ${aw} ended`,
      'Order release children',
      'ArtifactWorkflow sibling slot',
      'ArtifactWorkflow queued slot',
    ],
  ],
  [
    'its Workflow is refused, and its Order runs one at a time',
    edited(running, { status: submitted }),
    edited(running, { status: { ...submitted, waitReason: 'SubmissionFailed', waitMessage: 'denied' } }),
    ['Order release children', 'ArtifactWorkflow queued slot'],
  ],
  [
    'its Workflow is refused, and an Endpoint takes one at a time',
    edited(made(), { spec: { ...made().spec, limitedBy: ['from', 'to'] }, status: submitted }),
    edited(made(), {
      spec: { ...made().spec, limitedBy: ['from', 'to'] },
      status: { ...submitted, waitReason: 'SubmissionFailed', waitMessage: 'denied' },
    }),
    ['Order release children', 'ArtifactWorkflow queued slot'],
  ],
  ['an Endpoint goes', source, undefined, ['Order release inputs', `ArtifactWorkflow ${aw} inputs`]],
  ['a type of the cluster appears', undefined, artifactType(), ['Order release inputs']],
  ['it is labelled', artifactType(), edited(artifactType(), { metadata: { name: 'oci', labels: {} } }), []],
  [
    'a type of the namespace goes',
    { ...artifactType(), kind: 'ArtifactType', metadata: { name: 'oci', namespace: 'team' } },
    undefined,
    ['Order release inputs'],
  ],
  ['a Secret appears', undefined, login, ['Endpoint from inputs']],
  [
    'a Secret is written',
    login,
    edited(login, { metadata: { ...login.metadata, resourceVersion: '2' } }),
    ['Endpoint from inputs'],
  ],
  ['a Secret goes', login, undefined, ['Endpoint from inputs']],
  ['a Secret is seen again', login, edited(login, {}), []],
  ['a rendered Secret goes', rendered, undefined, [`ArtifactWorkflow ${aw} inputs`]],
  [
    'a Workflow progresses',
    argo,
    edited(argo, { status: { phase: 'Running' } }),
    [`ArtifactWorkflow ${aw} workflow`],
  ],
  ['a Workflow is created', undefined, argo, []],
  ['one is created whose submission has not been seen yet', undefined, workflowFor(sibling, 1), []],
  [
    'a Workflow that is to be stopped moves',
    ending,
    edited(ending, { status: { phase: 'Failed' } }),
    ['ArtifactWorkflow stopped workflow', 'ArtifactWorkflow stopped stopping'],
  ],
  [
    'a CronWorkflow that is to be stopped is suspended',
    edited(ending, { kind: 'CronWorkflow' }),
    edited(ending, { kind: 'CronWorkflow', spec: { suspend: true } }),
    ['ArtifactWorkflow stopped workflow', 'ArtifactWorkflow stopped stopping'],
  ],
  ['a Workflow goes', argo, undefined, [`ArtifactWorkflow ${aw} gone`]],
  [
    'a run of a schedule ends',
    run,
    edited(run, { status: { phase: 'Failed' } }),
    [`ArtifactWorkflow ${aw} workflow`],
  ],
  [
    'a CronWorkflow starts a run',
    edited(argo, { kind: 'CronWorkflow' }),
    edited(argo, { kind: 'CronWorkflow', status: { active: [] } }),
    [`ArtifactWorkflow ${aw} workflow`],
  ],
  ['a namespace is given to ARC', undefined, account, ['Order release inputs']],
  ['a namespace is taken away', account, undefined, []],
  ['a template appears', undefined, template, ['Order release inputs']],
  ['a template is edited', template, edited(template, { spec: { entrypoint: 'other' } }), []],
  [
    'a template of the cluster goes',
    edited(template, { kind: 'ClusterWorkflowTemplate', metadata: { name: 'steps', uid: 'ct' } }),
    undefined,
    ['Order release inputs'],
  ],
  ['a CronWorkflow goes', edited(argo, { kind: 'CronWorkflow' }), undefined, [`ArtifactWorkflow ${aw} gone`]],
];

describe('wakesFor', () => {
  it.each(cases)('when %s', (_, before, after, expected) => {
    const kind = (after ?? before)?.kind ?? '';
    expect(woken({ kind, before, after })).toEqual(expected);
    // The same object seen twice is no change.
    expect(woken({ kind, before: after, after: after && structuredClone(after) })).toEqual([]);
  });

  it('has a case above for every row of the table', () => {
    const seen = cases.flatMap(([, before, after]) => {
      const watched = (after ?? before)?.kind ?? '';
      return wakesFor({ kind: watched, before, after }, index).map(
        ({ target, reason }) => `${watched} ${target.kind} ${reason}`,
      );
    });
    for (const { watched, target, reason } of wakeTable)
      expect(seen).toContain(`${watched} ${target} ${reason}`);
  });

  it('has a row for every reason that a change gives, none for those of time, and words for every row', () => {
    const reasons = wakeReasonNames.filter((name) => wakeReasons[name].cause === 'change');
    expect(reasons).toHaveLength(12);
    expect(new Set(wakeTable.map(({ reason }) => reason))).toEqual(new Set(reasons));
    for (const { what } of wakeTable) expect(what.length).toBeGreaterThan(5);
  });

  it('compares finalizers in linear time, of which there may be thousands from before they were bounded', () => {
    const cost = (count: number) => {
      const finalizers = Array.from({ length: count }, (_, at) => `example.com/f${at}`);
      const held = (notes: Record<string, string>, more: string[]) => ({
        ...anOrder,
        metadata: { ...anOrder.metadata, annotations: notes, finalizers: [...finalizers, ...more] },
      });
      const before = process.threadCpuUsage();
      wakesFor(
        { kind: 'Order', before: held({ a: 'b' }, []), after: held({ a: 'c' }, ['example.com/x']) },
        index,
      );
      return process.threadCpuUsage(before).user / 1000;
    };
    cost(1_000);
    // Sixteen times as much where each is looked for among all others.
    expect(cost(40_000)).toBeLessThan(8 * cost(10_000) + 100);
  });

  it('does not wake an Order for a finalizer put on it, but for one that is lost, and for any once it is being deleted', () => {
    const metadata = { ...anOrder.metadata, finalizers: ['a'] };
    const held = { ...anOrder, metadata: { ...metadata, finalizers: ['a', 'b'] } };
    const free = { ...anOrder, metadata };
    const deletionTimestamp = '2026-01-01T00:00:00Z';
    const going = (one: typeof held) => ({ ...one, metadata: { ...one.metadata, deletionTimestamp } });
    const change = (before: KubeObject, after: KubeObject) => woken({ kind: 'Order', before, after });
    expect(change(free, held)).toEqual([]);
    expect(change(held, free)).toEqual(['Order release changed']);
    expect(change(going(held), going(free))).toEqual(['Order release changed']);
    expect(change(free, { ...held, spec: { ...held.spec, suspend: true } })).toEqual([
      'Order release changed',
    ]);
  });

  it('wakes an Order that is being deleted when the last of its children has gone, and only then', () => {
    const metadata = { ...anOrder.metadata, deletionTimestamp: now.toISOString() };
    const going = { ...index, order: () => ({ ...anOrder, metadata }) };
    const reasons = (left: ArtifactWorkflow[]) =>
      wakesFor(
        { kind: 'ArtifactWorkflow', before: made(done) },
        { ...going, artifactWorkflowsOfOrder: () => left },
      ).flatMap(({ target, reason }) => (target.kind === 'Order' ? [reason] : []));
    expect(reasons([made(done), sibling])).toEqual([]);
    expect(reasons([made(done)])).toEqual(['gone']);
  });

  it('tells nobody of a Workflow that disappears when its ArtifactWorkflow has finished or is gone', () => {
    for (const found of [made(done), undefined]) {
      const past = { ...index, artifactWorkflowNamed: () => found };
      expect(wakesFor({ kind: 'Workflow', before: argo }, past)).toEqual([]);
    }
  });

  it('tells the one that was made again under the same name of what belonged to its predecessor', () => {
    const again = { ...made(), metadata: { ...made().metadata, uid: 'again' } };
    const later = { ...index, artifactWorkflowNamed: () => again };
    const [wake] = wakesFor({ kind: 'Workflow', before: argo }, later);
    expect(wake).toMatchObject({ reason: 'gone', target: { name: aw, uid: 'again' } });
  });

  it('keeps what belongs to one Order together', () => {
    expect(wakingOf(made(), 'due').partitionKey).toBe('order-uid');
    expect(wakingOf(anOrder, 'resync').partitionKey).toBe('order-uid');
    expect(wakesFor({ kind: 'Workflow', before: argo }, index)[0]?.partitionKey).toBe('order-uid');
    expect(wakingOf(source, 'due').partitionKey).toBe(source.metadata.uid);
  });

  it('says of which artifact an ArtifactWorkflow is a version, and of nothing else', () => {
    const one = { ...made().metadata, labels: { [labels.artifact]: 'a1' } };
    expect(wakingOf({ ...made(), metadata: one }, 'due').target.artifact).toBe('a1');
    expect(
      wakingOf({ ...anOrder, metadata: { ...anOrder.metadata, labels: one.labels } }, 'due').target,
    ).not.toHaveProperty('artifact');
  });

  it('names an object woken for two causes of one reason once', () => {
    const doubled = { ...index, ordersUsingEndpoint: () => [anOrder, anOrder] };
    const wakes = wakesFor({ kind: 'Endpoint', after: source }, doubled).filter(
      ({ target }) => target.kind === 'Order',
    );
    expect(wakes).toHaveLength(1);
  });
});
