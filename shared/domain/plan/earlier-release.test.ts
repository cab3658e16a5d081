import { describe, expect, it } from 'vitest';
import type { ArtifactWorkflow, EndpointRef } from '../kinds/artifact-workflow.ts';
import type { Order } from '../kinds/order.ts';
import { endpoint } from '../testing/objects.ts';
import { done, image, inputs, order, stored } from '../testing/plan-objects.ts';
import { decideChildren } from './children.ts';
import { type PlanInputs, planOrder } from './plan.ts';

const one = order([image('a')]);

function decide(of: Order, given: PlanInputs, existing: ArtifactWorkflow[]) {
  return decideChildren(of, planOrder(of, given), existing);
}

function withoutDigest(ref: EndpointRef | undefined): EndpointRef {
  const { digest: _digest, ...rest } = ref ?? { name: '' };
  return rest;
}

/** As a release made it that hashed the generations of Endpoints into the name, and recorded no digest. */
function formerly(status: ArtifactWorkflow['status'] = {}): ArtifactWorkflow {
  const [planned] = planOrder(one, inputs()).artifacts;
  if (planned?.state !== 'ready') throw new Error('nothing planned');
  const { metadata, spec } = stored(planned.workflow, status);
  const { revision: _revision, ...rest } = spec;
  return {
    ...planned.workflow,
    metadata: { ...metadata, name: 'order-0123456789abcdef' },
    spec: { ...rest, srcRef: withoutDigest(spec.srcRef), dstRef: withoutDigest(spec.dstRef) },
    status,
  };
}

describe('an ArtifactWorkflow of an earlier release', () => {
  it.each([
    ['unfinished', {}],
    ['finished', done],
  ])('is taken over as it is: %s', (_, status) => {
    expect(decide(one, inputs(), [formerly(status)])).toMatchObject({ create: [], stop: [], remove: [] });
  });

  it('is replaced once its Endpoint, or what the user asks for, has changed', () => {
    const login = { secretRef: { name: 'login' } };
    const from = endpoint('from', login, { secretGeneration: 1 });
    const edited = {
      ...from,
      metadata: { ...from.metadata, generation: 2 },
      status: { ...from.status, observedGeneration: 2 },
    };
    const given = (source: typeof from) => inputs({ endpoints: [source, endpoint('to')] });
    const turned = given(endpoint('from', login, { secretGeneration: 2 }));
    const scheduled = order([{ ...image('a'), cron: { schedules: ['0 0 * * *'] } }]);
    expect(decide(one, turned, [formerly(done)]).create).toHaveLength(1);
    expect(decide(scheduled, inputs(), [formerly(done)]).create).toHaveLength(1);
    expect(decide(one, given(edited), [formerly()]).create).toHaveLength(1);
    expect(decide(one, given(edited), [formerly(done)]).create).toEqual([]);
  });

  it('that has expired is known by its entry in the status of the Order', () => {
    const { forceAt: _forceAt, endpointGenerations, secretGenerations } = planOrder(one, inputs());
    const entry = { artifactIndex: 0, phase: 'Succeeded', completionTime: '2026-11-21T10:00:00Z' };
    const status = {
      observedGeneration: one.metadata.generation ?? 1,
      endpointGenerations,
      secretGenerations,
      artifactWorkflows: { '0123456789abcdef': entry },
    };
    expect(decide({ ...one, status } as Order, inputs(), []).create).toEqual([]);
    const other = { ...status, endpointGenerations: { from: 77, to: 77 } };
    expect(decide({ ...one, status: other } as Order, inputs(), []).create).toHaveLength(1);
  });

  it('of the public Go ARC, whose objects have no generation, keeps what has ended', () => {
    const { generation: _generation, ...metadata } = one.metadata;
    const ended = { artifactIndex: 0, phase: 'Failed', completionTime: '2026-09-01T10:00:00Z' };
    const running = { artifactIndex: 1, phase: 'Running' };
    const two = {
      ...one,
      metadata,
      spec: { ...one.spec, artifacts: [image('a'), image('b')] },
      status: { artifactWorkflows: { '0000000000000000': ended, '1111111111111111': running } },
    } as Order;
    const { create } = decide(two, inputs(), []);
    expect(create.map(({ spec }) => spec.artifact?.name)).toEqual(['b']);
  });
});
