import type { ArtifactStatus, OrderStatus } from '#shared/domain';

/** A change of an Order's status that people should see as an Event. */
export interface Transition {
  type: 'Normal' | 'Warning';
  reason: 'Invalid' | 'Completed' | 'Failed' | 'Cancelled';
  message: string;
}

/** Further invalid artifacts are summarised in one Event. */
const maxInvalidEvents = 5;

/** The changes between two statuses: artifacts that became Invalid, and the end of the Order. */
export function transitions(before: OrderStatus | undefined, after: OrderStatus): Transition[] {
  return [...newlyInvalid(before, after), ...ended(before, after)];
}

function newlyInvalid(before: OrderStatus | undefined, after: OrderStatus): Transition[] {
  const known = new Set(invalidOf(before).map(({ artifactIndex, message }) => `${artifactIndex} ${message}`));
  const fresh = invalidOf(after).filter(
    ({ artifactIndex, message }) => !known.has(`${artifactIndex} ${message}`),
  );
  const events = fresh.slice(0, maxInvalidEvents).map((entry) => invalid(describe(entry)));
  const rest = fresh.length - events.length;
  return rest > 0
    ? [...events, invalid(`${rest} more artifacts are invalid: see status.artifactWorkflows`)]
    : events;
}

function invalid(message: string): Transition {
  return { type: 'Warning', reason: 'Invalid', message };
}

function invalidOf(status: OrderStatus | undefined): ArtifactStatus[] {
  return Object.values(status?.artifactWorkflows ?? {})
    .filter(({ phase }) => phase === 'Invalid')
    .sort((a, b) => a.artifactIndex - b.artifactIndex);
}

function describe({ artifactIndex, name, message }: ArtifactStatus): string {
  const label = name === undefined ? '' : ` (${name})`;
  return `artifact ${artifactIndex}${label}: ${message ?? 'it is invalid'}`;
}

function ended(before: OrderStatus | undefined, after: OrderStatus): Transition[] {
  // An Order without artifacts is Succeeded and has completed nothing.
  if (after.counts?.total === 0) return [];
  if (before?.phase === after.phase && before?.counts?.total !== 0) return [];
  const message = after.message ?? '';
  if (after.phase === 'Succeeded') return [{ type: 'Normal', reason: 'Completed', message }];
  if (after.phase === 'Cancelled') return [{ type: 'Normal', reason: 'Cancelled', message }];
  if (after.phase === 'Failed') return [{ type: 'Warning', reason: 'Failed', message }];
  return [];
}
