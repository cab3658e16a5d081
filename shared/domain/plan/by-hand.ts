import type { ArtifactType } from '../kinds/artifact-type.ts';
import type { ArtifactWorkflow, ArtifactWorkflowSpec } from '../kinds/artifact-workflow.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import type { Order } from '../kinds/order.ts';
import { apiVersion } from '../kinds/refs.ts';
import { labels } from '../kinds/well-known.ts';
import type { Hold } from '../lifecycle/holds.ts';
import type { Settings } from '../settings/settings.ts';
import { planOrder } from './plan.ts';

/** The minimal spec of an ArtifactWorkflow made by hand; the rest is completed as for an artifact of an Order. */
export interface ShortForm {
  type: string;
  srcRef: { name: string };
  dstRef: { name: string };
  artifact?: ArtifactWorkflowSpec['artifact'];
  cron?: ArtifactWorkflowSpec['cron'];
}

/**
 * Completes an ArtifactWorkflow made by hand from its type, Endpoints and the artifact's spec, as the plan of an Order with this one
 * artifact would. Given fields stay unchanged. `hold`: why it cannot be completed now.
 */
export function completedByHand<T extends Pick<ArtifactWorkflow, 'metadata'> & { spec: ShortForm }>(
  given: T,
  inputs: { endpoints: readonly Endpoint[]; types: readonly ArtifactType[] },
  settings: Settings = {},
): { workflow: T } | { hold: Hold } {
  const { metadata, spec } = given;
  const { type, srcRef, dstRef, artifact = {}, cron } = spec;
  const { namespace } = metadata;
  const order: Order = {
    apiVersion,
    kind: 'Order',
    metadata: { name: 'by-hand', uid: '', ...(namespace === undefined ? {} : { namespace }) },
    spec: {
      artifacts: [
        {
          type,
          srcRef,
          dstRef,
          ...(artifact.spec === undefined ? {} : { spec: artifact.spec }),
          ...(cron === undefined ? {} : { cron }),
        },
      ],
    },
  };
  const [planned] = planOrder(order, inputs, settings).artifacts;
  if (planned?.state !== 'ready')
    return { hold: planned?.hold ?? { reason: 'Preparing', message: 'no plan' } };
  const target = planned.workflow.metadata.labels?.[labels.target];
  return {
    workflow: {
      ...given,
      metadata: {
        ...metadata,
        labels: { ...metadata.labels, ...(target === undefined ? {} : { [labels.target]: target }) },
      },
      spec: {
        ...planned.workflow.spec,
        ...spec,
        artifact: { ...artifact, ...planned.workflow.spec.artifact },
      },
    },
  };
}
