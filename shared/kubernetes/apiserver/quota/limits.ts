import { ArcError } from '#shared/base/errors';
import { qualified } from '../errors/api-errors.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import type { Use } from './usage-account.ts';

/** One limit of what a namespace may hold of a kind. */
export interface HardLimit {
  /** The name of the quota that states it: several limits of one quota are reported together. */
  quota: string;
  /** The resource that is limited, in the words of a ResourceQuota: `count/<plural>.<group>`. */
  resource: string;
  measure: keyof Use;
  hard: number;
  /** What else the user has to know: where the limit stands. */
  source?: string;
}

/** The limits that a collection with this use would exceed by growing. What does not grow exceeds none. */
export function exceededLimits(limits: readonly HardLimit[], use: Use, growth: Use): HardLimit[] {
  return limits.filter(({ measure, hard }) => growth[measure] > 0 && use[measure] + growth[measure] > hard);
}

/** More than all servers on one store can write within a tenth of a second. */
const margin: Use = { objects: 1_000, bytes: 16 * 1024 * 1024 };

/** True where the growth leaves so little of a limit that what others have just stored decides. */
export function comesNear(limits: readonly HardLimit[], use: Use, growth: Use): boolean {
  return limits.some(
    ({ measure, hard }) => growth[measure] > 0 && use[measure] + growth[measure] > hard - margin[measure],
  );
}

/**
 * The error of a write that exceeds limits, in the form of kube-apiserver's ResourceQuota plug-in (k8s.io/apiserver,
 * pkg/admission/plugin/resourcequota): clients look for "exceeded quota" in it.
 */
export function quotaExceeded(
  { group, plural }: Pick<KindDefinition, 'group' | 'plural'>,
  name: string,
  exceeded: readonly HardLimit[],
  { use, growth }: { use: Use; growth: Use },
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
