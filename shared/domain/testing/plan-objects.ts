import type { ArtifactWorkflow, ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import type { Artifact, Order } from '../kinds/order.ts';
import { finalizers } from '../kinds/well-known.ts';
import { type PlanInputs, planOrder } from '../plan/plan.ts';
import { artifactType, endpoint, order as orderOf } from './objects.ts';

/** An Order `release` from `from` to `to`, the objects it refers to and its plan: for the tests of this room. */

export const now = new Date('2026-01-02T03:04:05Z');

export function order(artifacts: Artifact[], more: Partial<Order['spec']> = {}): Order {
  const { metadata, ...release } = orderOf('release', [], {
    defaults: { srcRef: { name: 'from' }, dstRef: { name: 'to' } },
    artifacts,
    ...more,
  });
  return { ...release, metadata: { ...metadata, uid: 'order-uid', finalizers: [finalizers.children] } };
}

export function image(name: string): Artifact {
  return { name, type: 'oci', spec: { image: `${name}:1.0` } };
}

export function inputs(more: Partial<PlanInputs> = {}): PlanInputs {
  return {
    endpoints: [endpoint('from', { secretRef: { name: 'login' } }, { secretGeneration: 1 }), endpoint('to')],
    types: [artifactType()],
    ...more,
  };
}

/** A planned ArtifactWorkflow as the API would return it, with a status. */
export function stored(
  workflow: ArtifactWorkflow,
  status: ArtifactWorkflowStatus = {},
  born = 0,
): ArtifactWorkflow {
  return {
    ...workflow,
    metadata: {
      ...workflow.metadata,
      uid: `uid-${workflow.metadata.name}`,
      generation: 1,
      creationTimestamp: new Date(now.getTime() + born).toISOString(),
    },
    status,
  };
}

/** The ArtifactWorkflow of the Order's first artifact, as the API would return it. */
export function made(
  of: Order,
  status: ArtifactWorkflowStatus = {},
  spec: Partial<ArtifactWorkflow['spec']> = {},
): ArtifactWorkflow {
  const [planned] = planOrder(of, inputs()).artifacts;
  if (planned?.state !== 'ready') throw new Error('not ready');
  const workflow = stored(planned.workflow, status);
  return { ...workflow, spec: { ...workflow.spec, ...spec } };
}

export const done: ArtifactWorkflowStatus = {
  phase: 'Succeeded',
  completionTime: '2026-01-02T03:00:00Z',
  results: { digest: `sha256:${'a'.repeat(64)}` },
};

export const broken: ArtifactWorkflowStatus = {
  phase: 'Failed',
  message: 'the registry refused the push',
  completionTime: '2026-01-02T03:00:00Z',
};
