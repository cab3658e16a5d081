import {
  type ArtifactWorkflow,
  artifactMilestones,
  artifactWorkflowExpiry,
  artifactWorkflows,
  cronWorkflows,
  endpoints,
  isFinished,
  type Order,
  orderExpiry,
  orderMilestones,
  orders,
  secrets,
  workflows,
} from '#shared/domain';
import { isOver } from './argo.ts';
import { type Conduit, shownBy } from './conduit.ts';
import { liesOf, placeOf } from './lies.ts';

/** What is wrong with the conduit now that everything has been made good and nothing moves any more; nothing, if all is well. */
export function faultsOf(conduit: Conduit): string[] {
  const { kube, argo, failed, bridge, lostEarly } = conduit;
  const all = kube.all(orders);
  return [
    ...argo.broken,
    ...failed,
    ...lostEarly,
    ...all.flatMap((order) => faultsOfOrder(conduit, order)),
    ...conduit.lies,
    ...all.flatMap((order) => liesOf(conduit, order)),
    ...alarms(conduit),
    ...overdue(conduit),
    ...history(conduit),
    ...litter(conduit),
    ...kube.all(endpoints).flatMap((one) => behind(one)),
    ...untold(conduit),
    ...conduit.repeats,
    ...(bridge.due > 0 ? [`${bridge.due} duties stay due`] : []),
  ];
}

/** Every artifact has arrived, but for one that claims the place of another one of the Order. */
function faultsOfOrder({ kube, expires }: Conduit, order: Order): string[] {
  const name = `Order ${order.metadata.name}`;
  const { artifacts = [] } = order.spec;
  const { phase, artifactWorkflows: entries = {}, counts } = order.status ?? {};
  const places = artifacts.map((artifact) => placeOf(artifact.spec));
  const isCancelled = (at: number) => order.spec.cancel === true || artifacts[at]?.cancel === true;
  const expected = places.map((place, at) => [
    places.indexOf(place) < at ? 'Invalid' : artifacts[at]?.cron ? 'Active' : 'Succeeded',
    ...(isCancelled(at) ? ['Cancelled'] : []),
  ]);
  const shown = Object.values(entries).toSorted((a, b) => a.artifactIndex - b.artifactIndex);
  const found = shown.map(
    ({ artifactIndex, phase: at, message = '' }) => `${artifactIndex} ${at} ${message}`,
  );
  const isAsExpected = shown.every((entry, at) => expected[at]?.includes(entry.phase));
  const phases = new Set(shown.map((entry) => entry.phase));
  const whole = phases.has('Invalid')
    ? ['Failed', ...(order.spec.cancel === true ? ['Cancelled'] : [])]
    : [phases.has('Cancelled') ? 'Cancelled' : phases.has('Active') ? 'Scheduled' : 'Succeeded'];
  const missing = Object.entries(entries)
    .filter(([, entry]) => entry.phase === 'Succeeded' && !expires)
    .filter(([key]) => !kube.all(artifactWorkflows).some(({ metadata }) => metadata.name.endsWith(key)))
    .map(([key]) => key);
  return [
    ...(order.metadata.deletionTimestamp === undefined ? [] : [`${name} does not go`]),
    ...(whole.includes(phase ?? '') ? [] : [`${name} is ${phase}, not ${whole.join(' or ')}`]),
    ...(isAsExpected && shown.length === artifacts.length ? [] : [`${name}: ${found.join('; ')}`]),
    ...(counts?.total === artifacts.length ? [] : [`${name} counts ${counts?.total}`]),
    ...missing.map((key) => `${name}: ${key} has no ArtifactWorkflow`),
    ...behind(order),
  ];
}

/** What is absent is waited for: no Order fails for what was made good within ten seconds. */
function alarms({ events, troubles, argo, clock, slowest, collided, meddled }: Conduit): string[] {
  const lasted = troubles.filter(({ since, until }) => Math.min(until, clock.now) - since >= 10_000);
  // Two short troubles look like one to who has not looked in between.
  const looksLong = (at: number) =>
    troubles.some(({ since }) => since + 10_000 <= at) &&
    troubles.some(({ since, until }) => since <= at && at <= until);
  // A transfer fails for good with its third attempt; a function that is slow says that what it sees began when it did.
  if (argo.failed > 2 || slowest > 1_000 || collided || meddled) return [];
  return events
    .filter(({ type }) => type.endsWith('.order.failed.v1'))
    .filter(({ at }) => !looksLong(at) && !lasted.some(({ since }) => since + 10_000 <= at))
    .map(({ subject }) => `${subject} is said to have failed, though nothing was missing for ten seconds`);
}

/** Domain events are sent at least once, and recorded: of what the statuses show now, and, unless the bridge was killed, of all that they have shown. */
function untold({ kube, events, milestones, hasRestarted, bridge }: Conduit): string[] {
  const told = new Set(events.map(({ id }) => id));
  const all = [...kube.all(orders), ...kube.all(artifactWorkflows)];
  const wanted = hasRestarted ? all.flatMap(shownBy) : [...milestones];
  return [
    ...wanted.filter((id) => !told.has(id)).map((id) => `no subscriber was told of ${id}`),
    ...all
      .filter((one) => unannounced(one).length > 0)
      .map(
        ({ kind, metadata, status }) =>
          `${kind} ${metadata.name} shows more than was announced: ${status?.announced}`,
      ),
    ...(bridge.unannounced > 0 ? [`${bridge.unannounced} domain events are left`] : []),
  ];
}

function unannounced(one: Order | ArtifactWorkflow): object[] {
  const now = new Date(0);
  return one.kind === 'Order'
    ? orderMilestones(one as Order, now)
    : artifactMilestones(one as ArtifactWorkflow, now);
}

/** What should have been deleted when its time to live was over. */
function overdue({ kube, clock }: Conduit): string[] {
  // No clock is wrong by more.
  const latest = clock.now - 900_000;
  const owner = ({ metadata }: ArtifactWorkflow) =>
    kube.all(orders).find(({ metadata: { uid } }) => metadata.ownerReferences?.[0]?.uid === uid);
  return [
    ...kube.all(orders).filter((one) => Number(orderExpiry(one)) < latest),
    ...kube.all(artifactWorkflows).filter((one) => Number(artifactWorkflowExpiry(one, owner(one))) < latest),
  ].map(({ kind, metadata }) => `${kind} ${metadata.name} has outlived its time`);
}

/** Each artifact keeps so many finished versions beside the one in force; nothing else is left of it. */
function history({ kube }: Conduit): string[] {
  return kube.all(orders).flatMap((order) => {
    const { artifacts = [], revisionHistoryLimit = 3 } = order.spec;
    const children = kube
      .all(artifactWorkflows)
      .filter(({ metadata }) => metadata.ownerReferences?.some(({ uid }) => uid === order.metadata.uid));
    const most = artifacts.length * (1 + revisionHistoryLimit);
    const entries = Object.keys(order.status?.artifactWorkflows ?? {});
    const isInForce = ({ metadata }: ArtifactWorkflow) => entries.some((key) => metadata.name.endsWith(key));
    return [
      ...(children.length <= most ? [] : [`${children.length} ArtifactWorkflows of ${order.metadata.name}`]),
      ...children
        .filter((child) => isInForce(child) && !isFinished(child) && !child.spec.cron)
        .map((child) => `${child.metadata.name} has not ended`),
      ...children.filter(isInForce).flatMap((child) => behind(child)),
    ];
  });
}

/** What nobody needs any more. */
function litter({ kube }: Conduit): string[] {
  const uids = new Set(kube.all(orders).map(({ metadata }) => metadata.uid));
  const orphans = kube
    .all(artifactWorkflows)
    .filter(({ metadata }) => !metadata.ownerReferences?.some(({ uid }) => uids.has(uid)));
  const kept = ['credentials', 'arc-credential-key'];
  // A schedule that is in force never ends.
  const scheduled = kube
    .all(orders)
    .flatMap(({ status }) => Object.entries(status?.artifactWorkflows ?? {}))
    .filter(([, { phase }]) => phase === 'Active')
    .map(([key]) => key);
  const isScheduled = (name: string) => scheduled.some((key) => name.includes(key));
  return [
    ...orphans,
    ...kube
      .all(artifactWorkflows)
      .filter((one) => !isFinished(one) || one.metadata.deletionTimestamp !== undefined)
      .filter((one) => !(one.spec.cron && isScheduled(one.metadata.name))),
    ...kube.all(workflows).filter((one) => !isOver(one)),
    ...kube.all(cronWorkflows).filter(({ metadata }) => !isScheduled(metadata.name)),
    ...kube.all(secrets).filter(({ metadata: { name } }) => !kept.includes(name) && !isScheduled(name)),
  ].map(({ kind, metadata }) => `${kind} ${metadata.name} is left`);
}

/** kstatus calls an object in progress until its status is about its present generation. */
function behind(object: {
  kind: string;
  metadata: { name: string; generation?: number };
  status?: { observedGeneration?: number };
}): string[] {
  const { kind, metadata, status } = object;
  return status?.observedGeneration === metadata.generation
    ? []
    : [
        `${kind} ${metadata.name} is at generation ${metadata.generation}, its status at ${status?.observedGeneration}`,
      ];
}
