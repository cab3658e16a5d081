import { type Endpoint, type KubeEvent, mayBe, type Order, withDefaults } from '#shared/domain';
import type { EndpointRow, EventRow } from '../../api.ts';
import { eventRow } from './events.ts';

const sides = ['source', 'destination'] as const;
const mostUsers = 50;
const mostEvents = 500;

/** Returns the Endpoints with the results of their probes and the Orders that use them. */
export function endpointRows(endpoints: readonly Endpoint[], orders: readonly Order[]): EndpointRow[] {
  const uses = usesOf(orders);
  return endpoints.map(({ metadata, spec, status = {} }) => {
    const { namespace = '', name, uid = '' } = metadata;
    const users = uses.get(`${namespace}/${name}`) ?? [];
    const { conditions = [], lastProbeTime = '', inFlight = [] } = status;
    return {
      id: uid,
      namespace,
      name,
      type: spec.type,
      url: spec.remoteURL,
      sides: sides.filter((side) => mayBe(side, spec)),
      state: stateOf(conditions.find(({ type }) => type === 'Ready')?.status),
      conditions: conditions.map(({ type, status: is, reason, message, lastTransitionTime: since = '' }) => {
        return { type, status: is, reason, message, since };
      }),
      lastProbe: lastProbeTime,
      inFlight: inFlight.length,
      maxInFlight: spec.maxInFlight ?? null,
      hasCredentials: spec.secretRef !== undefined,
      allowedTypes: spec.allowedTypes ?? [],
      policy: spec.policyRef?.name ?? '',
      usedBy: users.slice(0, mostUsers),
      users: users.length,
    };
  });
}

/** Returns the Events of Endpoints, the newest first. */
export function endpointEvents(events: readonly KubeEvent[]): EventRow[] {
  return events
    .filter(({ involvedObject }) => involvedObject.kind === 'Endpoint')
    .map(eventRow)
    .sort((a, b) => (a.at < b.at ? 1 : -1))
    .slice(0, mostEvents);
}

function stateOf(ready: string | undefined): EndpointRow['state'] {
  if (ready === 'True') return 'ready';
  return ready === 'False' ? 'broken' : 'unknown';
}

function usesOf(orders: readonly Order[]): Map<string, EndpointRow['usedBy']> {
  const uses = new Map<string, EndpointRow['usedBy']>();
  const created = ({ metadata }: Order) => metadata.creationTimestamp ?? '';
  for (const order of orders.toSorted((a, b) => (created(a) < created(b) ? 1 : -1))) {
    const { namespace = '', name } = order.metadata;
    for (const [endpoint, side] of sidesOf(order)) {
      const key = `${namespace}/${endpoint}`;
      const users = uses.get(key) ?? [];
      users.push({ namespace, name, side, phase: order.status?.phase ?? 'Pending' });
      uses.set(key, users);
    }
  }
  return uses;
}

function sidesOf(order: Order): Map<string, EndpointRow['usedBy'][number]['side']> {
  const sides = new Map<string, 'source' | 'destination' | 'both'>();
  const note = (name: string | undefined, side: 'source' | 'destination') => {
    if (name === undefined) return;
    const before = sides.get(name);
    sides.set(name, before === undefined || before === side ? side : 'both');
  };
  for (const artifact of order.spec.artifacts ?? []) {
    const { source, destination } = withDefaults(order, artifact);
    note(source, 'source');
    note(destination, 'destination');
  }
  return sides;
}
