import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { KubeObject } from '#shared/base/meta';
import { labels } from '../kinds/well-known.ts';
import { planOrder } from '../plan/plan.ts';
import { rollUp } from '../roll-up/rollup.ts';
import { artifactType, endpoint } from '../testing/objects.ts';
import { broken, done, image, inputs, now, order, stored } from '../testing/plan-objects.ts';
import { arcKinds } from './arc-kinds.ts';

function kind(name: string) {
  const found = arcKinds.find((one) => one.kind === name);
  if (!found) throw new Error(name);
  return found;
}

function fields(object: KubeObject, old?: KubeObject): string[] {
  return kind(object.kind)
    .hooks.validate(object, old)
    .map(({ field }) => field ?? '');
}

function workflow() {
  const [planned] = planOrder(order([image('a')]), inputs()).artifacts;
  if (planned?.state !== 'ready') throw new Error('not ready');
  return stored(planned.workflow, done);
}

const namespacedType = (spec: object) => ({ ...artifactType('oci', spec), kind: 'ArtifactType' });
const refs = { srcRef: { name: 'a' }, dstRef: { name: 'b' } };
const cron = (...schedules: string[]) => ({ cron: { schedules } });

describe('the kinds', () => {
  it('are five, with the names users type', () => {
    expect(
      arcKinds.map(({ kind, plural, shortNames, scope }) => [kind, plural, shortNames[0], scope]),
    ).toEqual([
      ['Order', 'orders', 'ord', 'Namespaced'],
      ['ArtifactWorkflow', 'artifactworkflows', 'aw', 'Namespaced'],
      ['ArtifactType', 'artifacttypes', 'at', 'Namespaced'],
      ['ClusterArtifactType', 'clusterartifacttypes', 'cat', 'Cluster'],
      ['Endpoint', 'endpoints', 'aep', 'Namespaced'],
    ]);
    for (const { categories } of arcKinds) expect(categories).toEqual(['arc']);
  });

  it('describe every field for kubectl explain', () => {
    const missing: string[] = [];
    const walk = (schema: Record<string, unknown>, path: string): void => {
      for (const [name, child] of Object.entries(
        (schema.properties ?? {}) as Record<string, Record<string, unknown>>,
      )) {
        if (!child.description) missing.push(`${path}.${name}`);
        walk(child, `${path}.${name}`);
      }
      for (const inner of [schema.items, schema.additionalProperties]) {
        if (typeof inner === 'object' && inner !== null) walk(inner as Record<string, unknown>, `${path}[]`);
      }
    };
    for (const one of arcKinds) walk(z.toJSONSchema(one.schema) as Record<string, unknown>, one.kind);
    expect(missing).toEqual([]);
  });

  it('have schemas that take what our own functions write', () => {
    const of = order([image('a'), { type: 'tape' }]);
    const status = rollUp(of, planOrder(of, inputs()), [workflow()], now);
    expect(kind('Order').schema.parse({ spec: of.spec, status })).toEqual({ spec: of.spec, status });
    const { spec, status: state } = { ...workflow(), status: { ...broken, attempts: 1, syncedAttempt: 1 } };
    expect(kind('ArtifactWorkflow').schema.parse({ spec, status: state })).toEqual({ spec, status: state });
  });

  it('take a status that others wrote in part', () => {
    const part = { counts: { total: 3 }, artifactWorkflows: { 'index-0': { message: 'x' } } };
    expect(kind('Order').schema.parse({ spec: {}, status: part })).toMatchObject({
      status: {
        counts: { total: 3, invalid: 0, pending: 0, running: 0, succeeded: 0, failed: 0 },
        artifactWorkflows: { 'index-0': { artifactIndex: 0, phase: 'Pending', message: 'x' } },
      },
    });
    const condition = {
      type: 'Ready',
      status: 'True',
      reason: 'Done',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    const status = { workflowRef: { kind: 'Workflow', name: 'a' }, conditions: [condition] };
    expect(kind('ArtifactWorkflow').schema.parse({ spec: workflow().spec, status })).toMatchObject({
      status: { workflowRef: { attempt: 1 }, conditions: [{ message: '' }] },
    });
  });

  it('default the usage of an Endpoint to All and refuse others', () => {
    const { schema } = kind('Endpoint');
    const spec = { type: 'oci', remoteURL: 'x' };
    expect(schema.parse({ spec })).toEqual({ spec: { ...spec, usage: 'All' } });
    expect(schema.safeParse({ spec: { ...spec, usage: 'Both' } }).success).toBe(false);
    expect(
      kind('Order').schema.safeParse({ spec: { artifacts: [{ type: 'oci', spec: [1] }] } }).success,
    ).toBe(false);
  });

  it('print a row for an object without a status', () => {
    const cells = (object: KubeObject) =>
      kind(object.kind).columns.map(({ name, value }) => [name, value(object)]);
    expect(Object.fromEntries(cells(order([image('a')])))).toMatchObject({
      Phase: 'Pending',
      Artifacts: 1,
      Failed: 0,
    });
    const { status: _, ...bare } = workflow();
    expect(Object.fromEntries(cells(bare))).toMatchObject({ Phase: 'Pending', Attempts: 0 });
    expect(Object.fromEntries(cells(workflow()))).toMatchObject({
      Order: 'release',
      Artifact: 'a',
      'In Force': true,
      Phase: 'Succeeded',
    });
    const old = workflow();
    const metadata = { ...old.metadata, labels: { ...old.metadata.labels, [labels.superseded]: 'true' } };
    const { artifact: _artifact, ...unnamed } = old.spec;
    const status = { ...old.status, progress: '1048576/4194304' };
    expect(Object.fromEntries(cells({ ...old, metadata, spec: unnamed, status }))).toMatchObject({
      Artifact: 'a:1.0',
      'In Force': false,
      Progress: '25% of 4 MiB',
    });
    expect(Object.fromEntries(cells(endpoint('e')))).toMatchObject({ Usage: 'All', Ready: 'Unknown' });
    expect(Object.fromEntries(cells(artifactType()))).toMatchObject({
      Workflow: 'arc-oci-image',
      Parameters: 0,
    });
  });
});

describe('selectors', () => {
  it('take the phase, as kubectl users expect', () => {
    const selectable = (object: KubeObject) =>
      Object.entries(kind(object.kind).selectableFields ?? {}).map(([field, read]) => [field, read(object)]);
    expect(selectable(order([]))).toEqual([['status.phase', 'Pending']]);
    expect(selectable(workflow())).toEqual([
      ['spec.type', 'oci'],
      ['status.phase', 'Succeeded'],
    ]);
    expect(selectable(endpoint('e'))).toEqual([['spec.type', 'oci']]);
  });

  it('find what belongs to an Order by its name', () => {
    expect(workflow().metadata.labels?.[labels.orderName]).toBe('release');
  });
});

describe('admission', () => {
  it.each<[string, KubeObject, string[]]>([
    ['a good Order', order([image('a')]), []],
    ['an empty Order', order([], { defaults: {} }), []],
    [
      'no source',
      order([{ type: 'oci', dstRef: { name: 'b' } }], { defaults: {} }),
      ['spec.artifacts[0].srcRef'],
    ],
    ['no type', order([{ type: '', ...refs }]), ['spec.artifacts[0].type']],
    ['a name twice', order([image('a'), image('a')]), ['spec.artifacts[1].name']],
    ['an empty name', order([{ ...image('a'), name: '' }]), ['spec.artifacts[0].name']],
    [
      'braces deep in a spec',
      order([{ type: 'oci', spec: { a: [{ b: '{{workflow.name}}' }] } }]),
      ['spec.artifacts[0].spec.a[0].b'],
    ],
    ['braces in a key', order([{ type: 'oci', spec: { '{{x': 1 } }]), ['spec.artifacts[0].spec.{{x']],
    ['a bad schedule', order([{ ...image('a'), ...cron('often') }]), ['spec.artifacts[0].cron.schedules[0]']],
    [
      'a condition that calls a function',
      order([{ ...image('a'), cron: { schedules: ['@daily'], when: '{{= sprig.env("HOME") == "" }}' } }]),
      ['spec.artifacts[0].cron.when'],
    ],
    ['no schedule', order([{ ...image('a'), ...cron() }]), ['spec.artifacts[0].cron.schedules']],
    ['a negative TTL', order([], { ttl: '-1h' }), ['spec.ttl']],
    ['an unreadable TTL', order([], { ttl: 'soon' }), ['spec.ttl']],
    ['an unreadable backoff', order([], { retry: { backoff: '5' } }), ['spec.retry.backoff']],
    ['a TTL beyond the calendar', order([], { ttl: '9999999999h' }), ['spec.ttl']],
    ['a TTL of over ten years', order([], { ttl: '87601h' }), ['spec.ttl']],
    ['a TTL of ten years', order([], { ttl: '87600h' }), []],
    ['a TTL of many digits', order([], { ttl: '1'.repeat(100_000) }), ['spec.ttl']],
    ['a backoff of many digits', order([], { retry: { backoff: '1'.repeat(65) } }), ['spec.retry.backoff']],
    ['a URL of any length', endpoint('e', { remoteURL: `a/${'b'.repeat(2_047)}` }), ['spec.remoteURL']],
    [
      'a hundred and one schedules',
      order(
        Array.from({ length: 11 }, (_, hour) => ({
          ...image(`a${hour}`),
          ...cron(...Array.from({ length: hour < 10 ? 10 : 1 }, (_, minute) => `${minute} ${hour} * * *`)),
        })),
      ),
      ['spec.artifacts'],
    ],
    ['a queue that is not a label value', order([], { queueName: 'a b' }), ['spec.queueName']],
    ['a good Endpoint', endpoint('e'), []],
    ['a bare host', endpoint('e', { remoteURL: 'registry:5000/team' }), []],
    ['no URL', endpoint('e', { remoteURL: '' }), ['spec.remoteURL']],
    ['a URL with a space', endpoint('e', { remoteURL: 'https://a b' }), ['spec.remoteURL']],
    ['a URL without host', endpoint('e', { remoteURL: 'https://' }), ['spec.remoteURL']],
    ['a URL with a password', endpoint('e', { remoteURL: 'https://me:x@a' }), ['spec.remoteURL']],
    ['braces in a URL', endpoint('e', { remoteURL: 'https://{{a}}' }), ['spec.remoteURL']],
    ['a token service', endpoint('e', { tokenHosts: ['auth.example.com', '10.0.0.1', 'auth'] }), []],
    [
      'what is no host',
      endpoint('e', { tokenHosts: ['https://a.io', 'a.io:443', 'A.io', '', '1.2', 'a..io'] }),
      [0, 1, 2, 3, 4, 5].map((index) => `spec.tokenHosts[${index}]`),
    ],
    [
      'too many hosts',
      endpoint('e', { tokenHosts: Array.from({ length: 11 }, (_, index) => `h${index}`) }),
      ['spec.tokenHosts'],
    ],
    [
      'names that no type has',
      endpoint('e', { allowedTypes: ['oci', 'Oci'], policyRef: { name: '' } }),
      ['spec.allowedTypes[1]', 'spec.policyRef.name'],
    ],
    [
      'too many types',
      endpoint('e', { allowedTypes: Array.from({ length: 101 }, (_, index) => `t${index}`) }),
      ['spec.allowedTypes'],
    ],
    [
      'hosts that its server may lead to',
      endpoint('e', {
        redirectHosts: ['cdn.example.com', '*.store.io', 'store:9000', '10.0.0.1', '[fd00::1]:9000'],
      }),
      [],
    ],
    [
      'what no server is at',
      endpoint('e', {
        redirectHosts: ['*', 'https://a.io', 'A.io', '', 'a.*.io', 'a.io/x', '*.', 'a:99999', '1.2.3'],
      }),
      [0, 1, 2, 3, 4, 5, 6, 7, 8].map((index) => `spec.redirectHosts[${index}]`),
    ],
    [
      'too many hosts that its server may lead to',
      endpoint('e', { redirectHosts: Array.from({ length: 51 }, (_, index) => `h${index}`) }),
      ['spec.redirectHosts'],
    ],
    ['an empty Secret name', endpoint('e', { secretRef: { name: '' } }), ['spec.secretRef.name']],
    ['no template', namespacedType({ workflowTemplateRef: { name: '' } }), ['spec.workflowTemplateRef.name']],
    [
      'parameters twice and nameless',
      namespacedType({ parameters: ['a', 'a', '', 'b c'].map((name) => ({ name, value: '' })) }),
      ['spec.parameters[1].name', 'spec.parameters[2].name', 'spec.parameters[3].name'],
    ],
    [
      'a policy with an unknown rule',
      namespacedType({
        parameters: [
          { name: 'severity', value: '{' },
          { name: 'policy', value: '{"maxByte":1}' },
        ],
      }),
      ['spec.parameters[1].value'],
    ],
    [
      'attest that is neither true nor false',
      namespacedType({ parameters: [{ name: 'attest', value: 'yes' }] }),
      ['spec.parameters[0].value'],
    ],
    [
      'parameters of Endpoints',
      namespacedType({
        parameters: ['srcRemoteURL', 'severity', 'dstSecretName'].map((name) => ({ name, value: '' })),
      }),
      ['spec.parameters[0].name', 'spec.parameters[2].name'],
    ],
    ['an empty rule', namespacedType({ rules: { srcTypes: ['oci', ''] } }), ['spec.rules.srcTypes[1]']],
    ['a negative type TTL', namespacedType({ ttlAfterFailed: '-1s' }), ['spec.ttlAfterFailed']],
  ])('of %s', (_, object, expected) => {
    expect(fields(object)).toEqual(expected);
  });

  it('accepts what may become valid later', () => {
    expect(
      fields(order([{ type: 'unheard-of', srcRef: { name: 'nowhere' }, dstRef: { name: 'x' } }])),
    ).toEqual([]);
  });

  it('validates on an update only the fields that changed', () => {
    const old = order([{ type: '', spec: { a: '{{' } }], { ttl: 'soon', defaults: {} });
    expect(fields({ ...old, metadata: { ...old.metadata, labels: { a: 'b' } } }, old)).toEqual([]);
    const more = order(
      [
        { type: '', spec: { a: '{{' } },
        { type: '', ...refs },
      ],
      { ttl: 'soon', defaults: {} },
    );
    expect(fields(more, old)).toEqual(['spec.artifacts[1].type']);
  });

  it('leaves a TTL alone that was stored before it was bounded', () => {
    const old = order([], { ttl: '9999999999h', retry: { backoff: '9999999999h' } });
    expect(fields({ ...old, spec: { ...old.spec, suspend: true } }, old)).toEqual([]);
  });

  it('refuses seconds of more than ten years', () => {
    expect(fields(order([], { ttlSecondsAfterCompletion: 315_360_000 }))).toEqual([]);
    const tooLong = fields(order([], { ttlSecondsAfterCompletion: 315_360_001 }));
    expect(tooLong).toEqual(['spec.ttlSecondsAfterCompletion']);
  });

  it('validates nothing while an object is being deleted', () => {
    const old = order([{ type: '' }], { ttl: 'soon' });
    expect(fields({ ...old, metadata: { ...old.metadata, deletionTimestamp: now.toISOString() } })).toEqual(
      [],
    );
  });

  it('keeps what makes an ArtifactWorkflow another transfer as it is', () => {
    const old = workflow();
    const moved = { ...old, spec: { ...old.spec, parameters: [], dstRef: { name: 'elsewhere' } } };
    expect(fields(moved, old)).toEqual(['spec.parameters', 'spec.dstRef']);
    expect(fields({ ...old, spec: { ...old.spec, suspend: true, ttlAfterFailed: '1h' } }, old)).toEqual([]);
    expect(fields(old)).toEqual([]);
  });

  it('never repeats a password from a URL', () => {
    const causes = kind('Endpoint').hooks.validate(
      endpoint('e', { remoteURL: 'https://me:hunter2@a' }),
      undefined,
    );
    expect(JSON.stringify(causes)).not.toContain('hunter2');
  });

  it('refuses deep nesting without failing', () => {
    let deep: Record<string, never> | { deep: typeof deep } = {};
    for (let level = 0; level < 100; level += 1) deep = { deep };
    expect(fields(order([{ type: 'oci', spec: deep }]))).toHaveLength(1);
  });
});

describe('warnings', () => {
  const warnings = (object: KubeObject) => kind(object.kind).hooks.warn?.(object, undefined) ?? [];

  it('name artifacts that are the same', () => {
    expect(warnings(order([image('a'), { ...image('a'), name: 'b' }, image('c')]))).toEqual([
      'spec.artifacts[1] is the same as spec.artifacts[0]: it is moved once',
    ]);
  });

  it('name the types of Endpoints that there are, for one that is misspelt', () => {
    expect(warnings(endpoint('a'))).toEqual([]);
    expect(warnings(endpoint('a', { type: 'ocl' }))).toEqual([
      expect.stringMatching(
        /^spec\.type: "ocl" is none of .*\(bundle, helm, http, oci, oci-layout, s3, webdav\)/,
      ),
    ]);
  });

  it('say where a TTL means something else in the Go ARC', () => {
    expect(warnings(namespacedType({ ttlAfterFinished: '0s' }))[0]).toContain('at once');
    expect(warnings(namespacedType({ ttlAfterFailed: '1h' }))[0]).toContain('unset keeps');
    expect(warnings(namespacedType({}))).toEqual([]);
  });
});
