import type { PolicyField } from '../identity/artifact.ts';
import type { ArtifactType } from '../kinds/artifact-type.ts';
import type { ArtifactWorkflowSpec } from '../kinds/artifact-workflow.ts';
import type { RetryPolicy } from '../kinds/common.ts';
import type { Order } from '../kinds/order.ts';
import { isOn, type Settings } from '../settings/settings.ts';
import { secondsTtl } from './effective.ts';
import type { EndpointUse } from './endpoint-use.ts';

/**
 * Returns the mutable part of an ArtifactWorkflow's spec. The operator's enforced values win, then the Order's, then the type's; the
 * operator's defaults fill the rest.
 */
export function policyOf(
  order: Order,
  type: ArtifactType,
  ends: readonly EndpointUse[],
  settings: Settings,
): Pick<ArtifactWorkflowSpec, PolicyField> {
  const seconds = secondsTtl(order.spec.ttlSecondsAfterCompletion);
  const ttl = (field: 'ttlAfterFinished' | 'ttlAfterFailed') =>
    !isOn('ttl', settings)
      ? undefined
      : (settings[`enforced.${field}`] ?? seconds ?? type.spec[field] ?? settings[`defaults.${field}`]);
  const finished = ttl('ttlAfterFinished');
  const failed = ttl('ttlAfterFailed');
  const retry = retryOf(order.spec.retry ?? type.spec.retry, settings);
  const queueName = order.spec.queueName ?? type.spec.queueName;
  const limitedBy = [...new Set(ends.filter(({ isLimited }) => isLimited).map(({ ref }) => ref.name))].sort();
  const { parallelism } = order.spec;
  return {
    ...(finished === undefined ? {} : { ttlAfterFinished: finished }),
    ...(failed === undefined ? {} : { ttlAfterFailed: failed }),
    ...(retry === undefined ? {} : { retry }),
    ...(queueName === undefined ? {} : { queueName }),
    ...(limitedBy.length === 0 ? {} : { limitedBy }),
    ...(parallelism === undefined ? {} : { parallelism }),
    ...(order.spec.suspend === true ? { suspend: true } : {}),
  };
}

function retryOf(given: RetryPolicy | undefined, settings: Settings): RetryPolicy | undefined {
  const limit = settings['enforced.retry.limit'] ?? given?.limit ?? settings['defaults.retry.limit'];
  const backoff = settings['enforced.retry.backoff'] ?? given?.backoff ?? settings['defaults.retry.backoff'];
  if (given === undefined && limit === undefined && backoff === undefined) return undefined;
  return { ...(limit === undefined ? {} : { limit }), ...(backoff === undefined ? {} : { backoff }) };
}
