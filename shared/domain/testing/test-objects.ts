import type { ArtifactType } from '../kinds/artifact-type.ts';
import type { ArtifactWorkflow, ArtifactWorkflowStatus } from '../kinds/artifact-workflow.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import type { Artifact, Order } from '../kinds/order.ts';
import { apiVersion } from '../kinds/refs.ts';
import { finalizers } from '../kinds/well-known.ts';
import { type PlanInputs, planOrder } from '../plan/plan.ts';

/** Objects for the tests of this folder. */

export const now = new Date('2026-01-02T03:04:05Z');

export function order(artifacts: Artifact[], more: Partial<Order['spec']> = {}): Order {
  return {
    apiVersion,
    kind: 'Order',
    metadata: {
      name: 'release',
      namespace: 'team',
      uid: 'order-uid',
      generation: 1,
      finalizers: [finalizers.children],
    },
    spec: { defaults: { srcRef: { name: 'from' }, dstRef: { name: 'to' } }, artifacts, ...more },
  };
}

export function image(name: string): Artifact {
  return { name, type: 'oci', spec: { image: `${name}:1.0` } };
}

export function endpoint(name: string, more: Partial<Endpoint['spec']> = {}, status = {}): Endpoint {
  return {
    apiVersion,
    kind: 'Endpoint',
    metadata: { name, namespace: 'team', uid: `uid-${name}`, generation: 1 },
    spec: { type: 'oci', remoteURL: `https://${name}.example`, usage: 'All', ...more },
    status: { observedGeneration: 1, ...status },
  };
}

export function type(name = 'oci', more: Partial<ArtifactType['spec']> = {}): ArtifactType {
  return {
    apiVersion,
    kind: 'ClusterArtifactType',
    metadata: { name, uid: `uid-type-${name}`, generation: 1 },
    spec: { workflowTemplateRef: { name: 'arc-oci-image' }, ...more },
  };
}

export function inputs(more: Partial<PlanInputs> = {}): PlanInputs {
  return {
    endpoints: [endpoint('from', { secretRef: { name: 'login' } }, { secretGeneration: 1 }), endpoint('to')],
    types: [type()],
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
