import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import type { ArtifactType } from '../kinds/artifact-type.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import type { Artifact, Order } from '../kinds/order.ts';
import { annotations, finalizers, labels } from '../kinds/well-known.ts';
import type { HoldReason } from '../lifecycle/holds.ts';
import { artifactType, endpoint } from '../testing/objects.ts';
import { image, inputs, order } from '../testing/plan-objects.ts';
import { type OrderPlan, type PlanInputs, planOrder } from './plan.ts';

function only(plan: OrderPlan) {
  expect(plan.artifacts).toHaveLength(1);
  const [artifact] = plan.artifacts;
  if (!artifact) throw new Error('no artifact');
  return artifact;
}

function ready(plan: OrderPlan) {
  const artifact = only(plan);
  if (artifact.state !== 'ready') throw new Error(artifact.hold.message);
  return artifact;
}

function named(order_: Order, given: PlanInputs = inputs()): string {
  return ready(planOrder(order_, given)).workflow.metadata.name;
}

describe('planOrder', () => {
  it('makes an owned, held and labelled ArtifactWorkflow with everything a transfer needs', () => {
    const { workflow, key, id } = ready(planOrder(order([image('app')]), inputs()));
    expect(workflow.metadata).toMatchObject({
      name: `release-${key}`,
      namespace: 'team',
      labels: { [labels.artifact]: id, [labels.order]: 'order-uid', [labels.artifactType]: 'oci' },
      finalizers: [finalizers.workflow],
      ownerReferences: [{ kind: 'Order', uid: 'order-uid', controller: true }],
    });
    expect(workflow.spec).toMatchObject({
      workflowTemplateRef: { name: 'arc-oci-image', clusterScope: true },
      srcSecretRef: { name: 'login' },
      srcRef: { name: 'from', generation: 1, secretGeneration: 1 },
      dstRef: { name: 'to', generation: 1 },
      artifact: { name: 'app', spec: { image: 'app:1.0' } },
    });
    expect(workflow.spec.parameters).toContainEqual({ name: 'dstSecret', value: 'false' });
  });

  it('waits for another Endpoint where the one it names is being deleted, and says so', () => {
    const [from, to] = inputs().endpoints as [Endpoint, Endpoint];
    const going = { ...to.metadata, generation: 2, deletionTimestamp: '2026-01-02T03:04:05Z' };
    const artifact = only(
      planOrder(order([image('app')]), inputs({ endpoints: [from, { ...to, metadata: going }] })),
    );
    const message = 'destination Endpoint "to" is being deleted: create it anew, or correct dstRef';
    expect(artifact).toMatchObject({ state: 'held', hold: { reason: 'EndpointMissing', message } });
  });

  const typed = {
    schema: {
      type: 'object',
      properties: { image: { type: 'string' }, size: { type: 'integer', default: 3 } },
    },
  };

  it('fills in the defaults of the schema of its type', () => {
    const one = order([{ name: 'a', type: 'typed', spec: { image: 'a:1' } }]);
    const { workflow } = ready(planOrder(one, inputs({ types: [artifactType('typed', typed)] })));
    expect(workflow.spec.parameters).toContainEqual({ name: 'specSize', value: '3' });
    expect(workflow.spec.artifact?.spec).toEqual({ image: 'a:1', size: 3 });
  });

  const bad: Array<[string, Artifact, HoldReason, string]> = [
    ['an unknown type', { type: 'tape' }, 'TypeMissing', 'artifact type "tape" not found'],
    [
      'an unknown source',
      { type: 'oci', srcRef: { name: 'nowhere' } },
      'EndpointMissing',
      'source Endpoint "nowhere" not found',
    ],
    [
      'a source whose Secret is missing',
      { type: 'oci', srcRef: { name: 'locked' } },
      'SecretMissing',
      'Secret "x" of Endpoint "locked" not found',
    ],
    [
      'a source that nobody has looked at yet',
      { type: 'oci', srcRef: { name: 'fresh' } },
      'EndpointUnread',
      '"fresh" has not been looked at',
    ],
    [
      'a source only to push to',
      { type: 'oci', srcRef: { name: 'push' } },
      'UsageMismatch',
      '"push" is PushOnly and cannot be a source',
    ],
    [
      'a destination only to pull from',
      { type: 'oci', dstRef: { name: 'pull' } },
      'UsageMismatch',
      'PullOnly and cannot be a destination',
    ],
    [
      'a source the type does not take',
      { type: 'strict', srcRef: { name: 's3' } },
      'RuleMismatch',
      'takes a source of type oci, not "s3"',
    ],
    [
      'a spec that does not fit the schema of its type',
      { type: 'typed', spec: { image: 'a:1', size: 'small' } },
      'SpecMismatch',
      'schema of artifact type "typed": spec.size: Invalid value: "string": must be of type integer',
    ],
    [
      'a destination that is wrong, before a source that is missing',
      { type: 'oci', srcRef: { name: 'nowhere' }, dstRef: { name: 'pull' } },
      'UsageMismatch',
      'PullOnly and cannot be a destination',
    ],
    [
      'a destination that is missing, before a source that nobody has looked at yet',
      { type: 'oci', srcRef: { name: 'fresh' }, dstRef: { name: 'nowhere' } },
      'EndpointMissing',
      'destination Endpoint "nowhere" not found',
    ],
  ];
  const world = inputs({
    endpoints: [
      ...inputs().endpoints,
      endpoint('push', { usage: 'PushOnly' }),
      endpoint('pull', { usage: 'PullOnly' }),
      endpoint('s3', { type: 's3' }),
      endpoint('fresh', {}, { observedGeneration: 0 }),
      endpoint('locked', { secretRef: { name: 'x' } }),
    ],
    types: [
      artifactType(),
      artifactType('strict', { rules: { srcTypes: ['oci'] } }),
      artifactType('typed', typed),
    ],
  });

  it('waits while only one of two Endpoints has seen the change of the Secret they share', () => {
    const secretRef = { name: 'login' };
    const seen = (from: string, to: string) =>
      only(
        planOrder(
          order([image('app')]),
          inputs({
            endpoints: [
              endpoint('from', { secretRef }, { secretGeneration: 2, credentialDigest: from }),
              endpoint('to', { secretRef }, { secretGeneration: 1, credentialDigest: to }),
            ],
          }),
        ),
      );
    expect(seen('k1:new', 'k1:old')).toMatchObject({
      state: 'held',
      hold: { reason: 'EndpointUnread', message: expect.stringContaining('Secret "login" has changed') },
    });
    expect(seen('k1:new', 'k1:new').state).toBe('ready');
    // After a change of the conduit's own key digests cannot be compared.
    expect(seen('k2:other', 'k1:old').state).toBe('ready');
  });

  it('waits in the same way for certificate authorities that both Endpoints trust', () => {
    const tls = { caSecretRef: { name: 'authority' } };
    const seen = (from: string, to: string) =>
      only(
        planOrder(
          order([image('app')]),
          inputs({
            endpoints: [
              endpoint(
                'from',
                { tls, secretRef: { name: 'login' } },
                { secretGeneration: 1, credentialDigest: from },
              ),
              endpoint('to', { tls }, { credentialDigest: to }),
            ],
          }),
        ),
      ).state;
    expect(seen('k1:login,k1:new', '-,k1:old')).toBe('held');
    expect(seen('k1:login,k1:new', '-,k1:new')).toBe('ready');
    expect(seen('k1:login', '-,k1:new')).toBe('ready');
  });

  it('makes a new version when the counter of an Endpoint with certificate authorities only rises', () => {
    const tls = { caSecretRef: { name: 'authority' } };
    const key = (status: object) =>
      only(
        planOrder(
          order([image('app')]),
          inputs({ endpoints: [endpoint('from', { tls }, status), endpoint('to')] }),
        ),
      ).key;
    expect(key({ secretGeneration: 1 })).not.toBe(key({}));
  });

  it.each(bad)('holds an artifact with %s, and says why', (_, artifact, reason, message) => {
    const found = only(planOrder(order([artifact]), world));
    expect(found).toMatchObject({ state: 'held', key: 'index-0', hold: { reason } });
    expect(found).toHaveProperty('hold.message', expect.stringContaining(message));
  });

  it('never lets bad artifacts affect the others', () => {
    const slots = fc.array(fc.option(fc.constantFrom(...bad.map(([, artifact]) => artifact))), {
      maxLength: 12,
    });
    fc.assert(
      fc.property(slots, (list) => {
        const artifacts = list.map((broken, index) => broken ?? image(`app-${index}`));
        const all = planOrder(order(artifacts), world).artifacts.filter(({ state }) => state === 'ready');
        const alone = artifacts
          .filter((_, index) => list[index] === null)
          .map((artifact) => only(planOrder(order([artifact]), world)).key);
        expect(all.map(({ key }) => key)).toEqual(alone);
      }),
    );
  });

  it('survives a spec that is nested too deep to walk through', () => {
    let deep: Artifact['spec'] = {};
    for (let level = 0; level < 100_000; level += 1) deep = { deep };
    const plan = planOrder(order([{ type: 'oci', spec: deep }, image('app')]), inputs());
    expect(plan.artifacts.map(({ state }) => state)).toEqual(['held', 'ready']);
  });

  it('moves artifacts that are alike once', () => {
    const plan = planOrder(order([image('a'), { ...image('a'), name: 'again' }, image('b')]), inputs());
    expect(plan.artifacts.map(({ index, name }) => [index, name])).toEqual([
      [0, 'a'],
      [2, 'b'],
    ]);
  });

  it('gives a place at the destination to the first artifact that writes there', () => {
    const daily = { schedules: ['@daily'] };
    const clash = (second: Artifact, first: Artifact = image('a')) =>
      planOrder(order([first, second]), inputs()).artifacts.map((one) =>
        one.state === 'ready' ? 'ready' : `${one.hold.reason}: ${one.hold.message}`,
      );
    const taken =
      'TargetTaken: artifact 0 (a) writes to the same place at the destination, https://to.example.com/a:1.0; give one of them another';
    const override = { image: 'b:1.0', override: 'a:1.0' };
    expect(clash({ ...image('b'), spec: override })).toEqual(['ready', taken]);
    expect(clash({ ...image('a'), name: 'b', cron: daily })).toEqual(['ready', taken]);
    expect(clash(image('b'))).toEqual(['ready', 'ready']);
    const latest = { ...image('c'), spec: { image: 'a' } };
    const [, other] = clash({ ...image('d'), spec: { image: 'a:latest' } }, latest);
    expect(other).toContain('TargetTaken: artifact 0 (c) writes to the same place');
    expect(clash(image('a'), { ...image('a'), dstRef: { name: 'from' } })).toEqual(['ready', 'ready']);
  });

  it('does not take back what an earlier release let write to the place of another artifact', () => {
    const both = order([
      { ...image('a'), spec: { image: 'a' } },
      { ...image('b'), spec: { image: 'a:latest' } },
    ]);
    const alone2 = order([{ ...image('b'), spec: { image: 'a:latest' } }]);
    const { key } = ready(planOrder(alone2, inputs()));
    const entry = { artifactIndex: 1, phase: 'Succeeded' };
    const alone1 = order([{ ...image('a'), spec: { image: 'a' } }]);
    const { key: firstKey } = ready(planOrder(alone1, inputs()));
    const known = {
      ...both,
      status: { artifactWorkflows: { [firstKey]: { artifactIndex: 0, phase: 'Succeeded' }, [key]: entry } },
    };
    // One that is added to an Order of today takes the place of none that ran before.
    const added = { ...both, status: { artifactWorkflows: { [key]: entry } } };
    expect(planOrder(added, inputs()).artifacts.map(({ state }) => state)).toEqual(['ready', 'held']);
    const states = (of: Order) => planOrder(of, inputs()).artifacts.map(({ state }) => state);
    expect(states(both)).toEqual(['ready', 'held']);
    expect(states(known)).toEqual(['ready', 'ready']);
    const [first, second] = planOrder(known, inputs()).artifacts;
    expect(second?.state === 'ready' && first?.state === 'ready' && second.target.key).toBe(
      first?.state === 'ready' && first.target.key,
    );
  });

  it('moves an artifact of a type to the place that the type pins, whatever the Order calls it', () => {
    const pinned = artifactType('oci', {
      parameters: [{ name: 'specOverride', value: 'quarantine/app:1.0' }],
    });
    for (const spec of [
      { image: 'prod/app:1.0', Override: 'x' },
      { image: 'prod/app:1.0', '': { override: 'x' } },
      { image: 'prod/app:1.0', override: { x: 'y' } },
    ]) {
      const { workflow, target } = ready(
        planOrder(order([{ type: 'oci', spec }]), inputs({ types: [pinned] })),
      );
      expect(workflow.spec.artifact?.spec).toMatchObject({ override: 'quarantine/app:1.0' });
      expect(workflow.spec.parameters).toContainEqual({ name: 'specOverride', value: 'quarantine/app:1.0' });
      expect(target.address).toBe('https://to.example.com/quarantine/app:1.0');
    }
  });

  it('holds an artifact whose fields become one parameter', () => {
    const artifact = only(
      planOrder(order([{ type: 'oci', spec: { image: 'a', override: 'b', Override: 'c' } }]), inputs()),
    );
    const message =
      'spec.Override and spec.override both become the parameter specOverride: remove one of them';
    expect(artifact).toMatchObject({ state: 'held', hold: { reason: 'SpecMismatch', message } });
  });

  it('prefers the type of the namespace', () => {
    const own: ArtifactType = {
      ...artifactType('oci', { workflowTemplateRef: { name: 'mine' } }),
      kind: 'ArtifactType',
    };
    for (const types of [
      [own, artifactType()],
      [artifactType(), own],
    ]) {
      const { workflow } = ready(planOrder(order([image('a')]), inputs({ types })));
      expect(workflow.spec.workflowTemplateRef).toEqual({ name: 'mine' });
    }
  });

  it('lets the Order decide TTLs, retry and queue before the type', () => {
    const types = [artifactType('oci', { ttlAfterFinished: '1h', ttlAfterFailed: '2h', queueName: 'slow' })];
    const plain = ready(planOrder(order([image('a')]), inputs({ types }))).workflow.spec;
    expect(plain).toMatchObject({ ttlAfterFinished: '1h', ttlAfterFailed: '2h', queueName: 'slow' });
    const own = { ttlSecondsAfterCompletion: 5, queueName: 'fast', retry: { limit: 2 }, suspend: true };
    const spec = ready(planOrder(order([image('a')], own), inputs({ types }))).workflow.spec;
    expect(spec).toMatchObject({
      ttlAfterFinished: '5s',
      ttlAfterFailed: '5s',
      queueName: 'fast',
      suspend: true,
    });
  });
});

describe('the name of an ArtifactWorkflow', () => {
  const base = order([image('app')]);
  const from = { secretRef: { name: 'login' } };
  /** The Endpoint after it was deleted and made again. */
  const again = (one: Endpoint) => ({ ...one, metadata: { ...one.metadata, uid: 'made-again' } });
  /** The Endpoint after an edit that track-credentials has looked at. */
  const edited = (one: Endpoint, spec: Partial<Endpoint['spec']>) => ({
    ...one,
    metadata: { ...one.metadata, generation: 2 },
    spec: { ...one.spec, ...spec },
    status: { ...one.status, observedGeneration: 2 },
  });

  const changes: Array<[string, Order, PlanInputs?]> = [
    ['namespace', { ...base, metadata: { ...base.metadata, namespace: 'other' } }],
    ['uid', { ...base, metadata: { ...base.metadata, uid: 'other' } }],
    ['spec', order([{ ...image('app'), spec: { image: 'app:1.1' } }])],
    ['schedule', order([{ ...image('app'), cron: { schedules: ['@daily'] } }])],
    ['force-at', { ...base, metadata: { ...base.metadata, annotations: { [annotations.forceAt]: '7' } } }],
    ['last force', { ...base, status: { lastForceAt: '2026-01-01T00:00:00Z' } }],
    ['template', base, inputs({ types: [artifactType('oci', { workflowTemplateRef: { name: 'other' } })] })],
    [
      'type parameter',
      base,
      inputs({ types: [artifactType('oci', { parameters: [{ name: 'a', value: 'b' }] })] }),
    ],
    [
      'Secret counter',
      base,
      inputs({ endpoints: [endpoint('from', from, { secretGeneration: 2 }), endpoint('to')] }),
    ],
    [
      'Endpoint URL',
      base,
      inputs({
        endpoints: [
          endpoint('from', from, { secretGeneration: 1 }),
          endpoint('to', { remoteURL: 'https://x' }),
        ],
      }),
    ],
    [
      'hosts that get the credentials of an Endpoint',
      base,
      inputs({
        endpoints: [
          endpoint('from', { ...from, tokenHosts: ['auth.example.com'] }, { secretGeneration: 1 }),
          endpoint('to'),
        ],
      }),
    ],
    [
      'hosts that the server of an Endpoint may lead to',
      base,
      inputs({
        endpoints: [
          endpoint('from', { ...from, redirectHosts: ['cdn.example.com'] }, { secretGeneration: 1 }),
          endpoint('to'),
        ],
      }),
    ],
    [
      'uid of an Endpoint',
      base,
      inputs({ endpoints: [endpoint('from', from, { secretGeneration: 1 }), again(endpoint('to'))] }),
    ],
    [
      'tls of an Endpoint',
      base,
      inputs({
        endpoints: [
          endpoint('from', { ...from, tls: { caSecretRef: { name: 'ca' } } }, { secretGeneration: 1 }),
          endpoint('to'),
        ],
      }),
    ],
  ];

  it.each(changes)('is another one when the %s changes', (_, changed, given) => {
    expect(named(changed, given)).not.toBe(named(base));
  });

  const alike: Array<[string, Order, PlanInputs?]> = [
    ['order of inputs', base, inputs({ endpoints: [...inputs().endpoints].reverse() })],
    [
      'limit, usage and spelling of tls of the Endpoints',
      base,
      inputs({
        endpoints: [
          edited(endpoint('from', from, { secretGeneration: 1 }), { maxInFlight: 3, usage: 'PullOnly' }),
          edited(endpoint('to'), { tls: { insecureSkipVerify: false } }),
        ],
      }),
    ],
    [
      'parameter of a type that comes from an Endpoint',
      base,
      inputs({ types: [artifactType('oci', { parameters: [{ name: 'srcRemoteURL', value: 'evil.io' }] })] }),
    ],
    ['artifact name', order([{ ...image('app'), name: 'renamed' }])],
    ['spelling of the refs', order([{ ...image('app'), srcRef: { name: 'from' }, dstRef: { name: 'to' } }])],
    ['TTL of the type', base, inputs({ types: [artifactType('oci', { ttlAfterFinished: '1h' })] })],
    ['policy of the Order', order([image('app')], { retry: { limit: 3 }, suspend: true, ttl: '1h' })],
    ['order of spec fields', order([{ type: 'oci', spec: { image: 'app:1.0' }, name: 'app' }])],
    [
      'older force-at',
      { ...base, metadata: { ...base.metadata, annotations: { [annotations.forceAt]: 'x' } } },
    ],
  ];

  it.each(alike)('is the same whatever the %s', (_, changed, given) => {
    expect(named(changed, given)).toBe(named(base));
  });

  it('counts the later of annotation and last force', () => {
    const annotated = { ...base.metadata, annotations: { [annotations.forceAt]: '1767225600' } };
    const both = { ...base, metadata: annotated, status: { lastForceAt: '2026-01-01T00:00:00Z' } };
    expect(named(both)).toBe(named({ ...base, metadata: annotated }));
  });
});
