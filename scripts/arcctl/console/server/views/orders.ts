import { needsPerson, type Order } from '#shared/domain';
import type { Counts, OrderRow, Wait } from '../../api.ts';

/** Returns the row of one Order in a list. */
export function orderRow({ metadata, spec, status = {} }: Order): OrderRow {
  const { namespace = '', name, uid = '', creationTimestamp = '' } = metadata;
  const waits = waitsOf(status);
  const counts = countsOf(spec, status);
  return {
    id: uid,
    namespace,
    name,
    created: creationTimestamp,
    phase: status.phase ?? 'Pending',
    message: status.message ?? '',
    started: status.startTime ?? '',
    completed: status.completionTime ?? '',
    counts,
    waits,
    needsPerson: counts.invalid > 0 || counts.failed > 0 || waits.some((wait) => wait.needsPerson),
    types: [...new Set((spec.artifacts ?? []).map(({ type }) => type))].sort(),
  };
}

function countsOf(spec: Order['spec'], { counts }: NonNullable<Order['status']>): Counts {
  const total = spec.artifacts?.length ?? 0;
  const none = { succeeded: 0, running: 0, failed: 0, invalid: 0, cancelled: 0 };
  return { ...none, pending: total, total, ...counts };
}

const mostReasons = 5;

/** Returns the reasons for which artifacts wait, deduplicated; those that need a person first. */
function waitsOf({ artifactWorkflows = {} }: NonNullable<Order['status']>): Wait[] {
  const held = Object.values(artifactWorkflows).flatMap(({ phase, reason }) =>
    reason !== undefined && ['Pending', 'Queued', 'Invalid'].includes(phase) ? [{ phase, reason }] : [],
  );
  return [...Map.groupBy(held, ({ reason }) => reason)]
    .map(([reason, some]) => {
      const isInvalid = some.some(({ phase }) => phase === 'Invalid');
      return { reason, count: some.length, needsPerson: isInvalid || needsPerson(reason) };
    })
    .sort((a, b) => Number(b.needsPerson) - Number(a.needsPerson) || b.count - a.count)
    .slice(0, mostReasons);
}
