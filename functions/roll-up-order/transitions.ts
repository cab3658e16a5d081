import {
  type ArtifactStatus,
  type EventReason,
  isRunFailure,
  type OrderSpec,
  type OrderStatus,
} from '#shared/domain';

/** A change of an Order's status that is reported as an Event. */
export interface Transition {
  type: 'Normal' | 'Warning';
  reason: EventReason;
  message: string;
}

/** Further artifacts with the same transition are summarized in one Event. */
const mostOfAKind = 5;

/** Returns the transitions between two statuses: accepted, started or held, artifacts turned Invalid, failed runs of schedules, the end. */
export function transitions(
  before: OrderStatus | undefined,
  after: OrderStatus,
  { suspend }: Pick<OrderSpec, 'suspend'> = {},
): Transition[] {
  return [
    ...accepted(before, after),
    ...began(before, after, suspend === true),
    ...newOf(before, after, isInvalid, { reason: 'Invalid', all: 'artifacts are invalid' }),
    ...newOf(before, after, hasFailedRun, { reason: 'RunFailed', all: 'schedules have failed' }),
    ...ended(before, after),
  ];
}

function accepted(
  before: OrderStatus | undefined,
  { observedGeneration, counts }: OrderStatus,
): Transition[] {
  const isNew = observedGeneration !== undefined && before?.observedGeneration !== observedGeneration;
  if (!isNew || counts === undefined) return [];
  const { total, invalid } = counts;
  const wrong = invalid === 0 ? '' : `, ${invalid} of them invalid`;
  const message = `generation ${observedGeneration}: ${total} artifact${total === 1 ? '' : 's'}${wrong}`;
  return [{ type: 'Normal', reason: 'Accepted', message }];
}

/** Worded the same each time, so that a schedule counts up one Event. */
function began(
  before: OrderStatus | undefined,
  { phase, counts }: OrderStatus,
  suspended: boolean,
): Transition[] {
  if (before?.phase === phase) return [];
  const resumed: Transition[] =
    before?.phase === 'Suspended' && !suspended
      ? [{ type: 'Normal', reason: 'Resumed', message: 'spec.suspend is no longer set' }]
      : [];
  if (phase === 'Suspended')
    return [{ type: 'Normal', reason: 'Suspended', message: 'spec.suspend is set: nothing new is started' }];
  // Some may have ended and others wait while nothing runs yet.
  if (phase === 'Running' && (counts?.running ?? 0) > 0)
    return [...resumed, { type: 'Normal', reason: 'Started', message: 'artifacts are being moved' }];
  return resumed;
}

/** Entries for which a condition holds now and did not before, or with another text: one Event for each of the first few. */
function newOf(
  before: OrderStatus | undefined,
  after: OrderStatus,
  isSo: (entry: ArtifactStatus) => boolean,
  { reason, all }: { reason: EventReason; all: string },
): Transition[] {
  const entriesOf = (status: OrderStatus | undefined) =>
    Object.values(status?.artifactWorkflows ?? {})
      .filter(isSo)
      .sort((a, b) => a.artifactIndex - b.artifactIndex);
  const known = new Set(entriesOf(before).map(({ artifactIndex, message }) => `${artifactIndex} ${message}`));
  const fresh = entriesOf(after).filter(
    ({ artifactIndex, message }) => !known.has(`${artifactIndex} ${message}`),
  );
  const warning = (message: string): Transition => ({ type: 'Warning', reason, message });
  const events = fresh.slice(0, mostOfAKind).map((entry) => warning(describe(entry)));
  const rest = fresh.length - events.length;
  return rest > 0 ? [...events, warning(`${rest} more ${all}: see status.artifactWorkflows`)] : events;
}

function isInvalid({ phase }: ArtifactStatus): boolean {
  return phase === 'Invalid';
}

function hasFailedRun({ phase, message }: ArtifactStatus): boolean {
  return phase === 'Active' && isRunFailure(message);
}

function describe({ artifactIndex, artifact: name, message }: ArtifactStatus): string {
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
