import { ArcError } from '#shared/base/errors';
import { qualified } from '../errors/api-errors.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import type { ResourceUsage } from './usage-account.ts';

/** A limit of the objects of a kind in a namespace. */
export interface HardLimit {
  /** The name of the quota. Exceeded limits of a quota are reported together. */
  quota: string;
  /** The limited resource, in the notation of ResourceQuota: `count/<plural>.<group>`. */
  resource: string;
  measure: keyof ResourceUsage;
  hard: number;
  /** Where the limit is configured, for the error message. */
  source?: string;
}

/** Returns the limits that a collection would exceed by growing. */
export function exceededLimits(
  limits: readonly HardLimit[],
  use: ResourceUsage,
  growth: ResourceUsage,
): HardLimit[] {
  return limits.filter(({ measure, hard }) => growth[measure] > 0 && use[measure] + growth[measure] > hard);
}

/** More than all servers of a store can write within 100 ms. */
const margin: ResourceUsage = { objects: 1_000, bytes: 16 * 1024 * 1024 };

/** Tells whether a collection would come so close to a limit that concurrent writes of other servers matter. */
export function isNearLimit(
  limits: readonly HardLimit[],
  use: ResourceUsage,
  growth: ResourceUsage,
): boolean {
  return limits.some(
    ({ measure, hard }) => growth[measure] > 0 && use[measure] + growth[measure] > hard - margin[measure],
  );
}

/**
 * Returns the error of a write that exceeds limits, in the words of kube-apiserver's ResourceQuota plug-in (k8s.io/apiserver,
 * pkg/admission/plugin/resourcequota): clients search for "exceeded quota".
 */
export function quotaExceeded(
  { group, plural }: Pick<KindDefinition, 'group' | 'plural'>,
  name: string,
  exceeded: readonly HardLimit[],
  { use, growth }: { use: ResourceUsage; growth: ResourceUsage },
): ArcError {
  const [first] = exceeded;
  const together = exceeded
    .filter(({ quota }) => quota === first?.quota)
    .sort((a, b) => (a.resource < b.resource ? -1 : 1));
  const list = (value: (limit: HardLimit) => number) =>
    together.map((limit) => `${limit.resource}=${value(limit)}`).join(',');
  const sources = together.flatMap(({ source }) => source ?? []);
  const message = [
    `${qualified(plural, group)} "${name}" is forbidden: exceeded quota: ${first?.quota}`,
    `requested: ${list(({ measure }) => growth[measure])}`,
    `used: ${list(({ measure }) => use[measure])}`,
    `limited: ${list(({ hard }) => hard)}`,
  ].join(', ');
  const from = sources.length === 0 ? '' : ` (${sources.join(', ')})`;
  const details = { name, ...(group && { group }), kind: plural };
  return new ArcError('Forbidden', `${message}${from}`, { details });
}
