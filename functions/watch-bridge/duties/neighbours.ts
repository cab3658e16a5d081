import { sameJson } from '#shared/base/meta';
import {
  type ArtifactWorkflow,
  appliesPolicies,
  type Endpoint,
  hasEnded,
  isDeleting,
  isFinished,
  isRefused,
  limitingEndpoints,
  nextAt,
  nextOf,
  type Order,
  phaseOf,
} from '#shared/domain';
import type { Observed } from '../view/kept.ts';
import type { ObservedView } from '../view/observed-view.ts';

/** A change of one object: both states for an update, one state for its appearance or disappearance. */
export type Change<T extends Observed = Observed> = T extends Observed
  ? { kind: T['kind'] } & ({ before?: T | undefined; after: T } | { before: T; after?: undefined })
  : never;

/** Returns the change from one state to another; undefined if no state is kept. Both states must be of one kind, as those of a watch are. */
export function changeOf(before: Observed | undefined, after: Observed | undefined): Change | undefined {
  const about = after ?? before;
  return about && ({ kind: about.kind, before, after } as Change);
}

/** Yields the objects, beside the object itself and its Order, whose duties may depend on a changed object. `view` has the new state. */
export function* neighbours(view: ObservedView, change: Change): Iterable<Observed> {
  const { before, after } = change;
  const about = after ?? before;
  switch (change.kind) {
    case 'Order':
      yield* ofOrder(view, change);
      return;
    case 'ArtifactWorkflow':
      yield* ofArtifactWorkflow(view, change);
      return;
    case 'Endpoint':
      yield* ofEndpoint(view, change);
      return;
    case 'ArtifactType':
    case 'ClusterArtifactType':
      if (!sameJson(change.before?.spec ?? null, change.after?.spec ?? null)) yield* view.ordersOfType(about);
      return;
    case 'WorkflowTemplate':
    case 'ClusterWorkflowTemplate':
      if (before && after && appliesPolicies(before) === appliesPolicies(after)) return;
      for (const type of view.typesOfTemplate(about)) yield* view.ordersOfType(type);
      return;
    case 'ServiceAccount':
      yield* view.waitingIn(about.metadata.namespace ?? '');
      return;
    case 'Secret':
      yield* view.endpointsOfSecret(about);
      yield* view.workflowOf(about);
      return;
    case 'Workflow':
    case 'CronWorkflow':
      yield* view.workflowOf(about);
      return;
    case 'ConfigMap':
      // Every plan depends on the operator's settings, and so does every TTL.
      yield* view.objects();
  }
}

function* ofOrder(
  view: ObservedView,
  { before, after }: Change<Order>,
): Iterable<ArtifactWorkflow | Endpoint> {
  const order = after ?? before;
  if (after !== undefined && before !== undefined && sameJson(before.status ?? null, after.status ?? null)) {
    if (sameJson(before.spec ?? null, after.spec ?? null)) return;
  }
  // Its status records their ends: only then may they be deleted, or expire.
  for (const child of view.childrenOf(order)) {
    const { ttlAfterFinished, ttlAfterFailed } = child.spec;
    const mayExpire = isFinished(child) && (ttlAfterFinished ?? ttlAfterFailed) !== undefined;
    if (mayExpire || isDeleting(child) || child.status?.waitReason !== undefined) yield child;
  }
  yield* view.endpointsOf(order);
}

function* ofArtifactWorkflow(
  view: ObservedView,
  { before, after }: Change<ArtifactWorkflow>,
): Iterable<ArtifactWorkflow | Endpoint> {
  const workflow = after ?? before;
  const was = before === undefined ? undefined : placeOf(before);
  const is = after === undefined ? undefined : placeOf(after);
  if (sameJson(was ?? null, is ?? null)) return;
  // Writers to the same place take turns.
  for (const other of view.conflictsOf(workflow))
    if (other.metadata.uid !== workflow.metadata.uid && mayWait(other)) yield other;
  yield* view.endpointsOf(workflow);
}

/** Returns the part of an ArtifactWorkflow that decides whether others may start. */
function placeOf(workflow: ArtifactWorkflow) {
  const { spec, status = {}, metadata } = workflow;
  const {
    waitReason = null,
    waitMessage = null,
    workflowRef,
    activeWorkflowRef = null,
    configSecret,
  } = status;
  return [
    [
      phaseOf(workflow),
      isFinished(workflow),
      isDeleting(workflow),
      metadata.finalizers ?? [],
      spec.suspend ?? null,
    ],
    [
      spec.cancel ?? null,
      waitReason,
      waitMessage,
      workflowRef?.name ?? null,
      activeWorkflowRef,
      configSecret === undefined,
    ],
  ];
}

function mayWait(workflow: ArtifactWorkflow): boolean {
  return isDeleting(workflow) || (!isFinished(workflow) && phaseOf(workflow) !== 'Running');
}

function* ofEndpoint(
  view: ObservedView,
  { before, after }: Change<Endpoint>,
): Iterable<Order | ArtifactWorkflow> {
  const about = after ?? before;
  if (!sameJson(useOf(before) ?? null, useOf(after) ?? null)) {
    yield* view.ordersOfEndpoint(about);
    for (const workflow of view.workflowsOfEndpoint(about))
      if (workflow.status?.configSecret === undefined || workflow.status.waitReason !== undefined)
        yield workflow;
  }
  // A limit that is gone blocks nobody.
  if (after === undefined || about.spec.maxInFlight === undefined)
    for (const workflow of view.workflowsOfEndpoint(about))
      if (workflow.status?.waitReason === 'LimitReached') yield workflow;
}

/** Returns the part of an Endpoint that plans and configurations depend on. */
function useOf(object: Endpoint | undefined) {
  if (object === undefined) return undefined;
  const { metadata, spec, status = {} } = object;
  const { observedGeneration = null, secretGeneration = null, credentialDigest = null } = status;
  return [
    metadata.uid ?? null,
    metadata.deletionTimestamp ?? null,
    spec,
    observedGeneration,
    secretGeneration,
    credentialDigest,
  ];
}

/** Returns the Endpoints and Orders whose limits may have room after a change. */
export function linesOf(view: ObservedView, { kind, before, after }: Change): (Endpoint | Order)[] {
  if (kind === 'Endpoint') {
    const [was, is] = [before, after].map((object) => slotsOf(object));
    const endpoint = after;
    return endpoint?.spec.maxInFlight === undefined || sameJson(was ?? null, is ?? null) ? [] : [endpoint];
  }
  if (kind !== 'ArtifactWorkflow') return [];
  const workflow = after ?? before;
  if (isInLine(before) === isInLine(after)) return [];
  const { namespace = '' } = workflow.metadata;
  const limits = limitingEndpoints(workflow).flatMap((name) => view.endpoint(namespace, name) ?? []);
  const order = workflow.spec.parallelism === undefined ? undefined : view.orderOf(workflow);
  return [
    ...limits.filter(({ spec }) => spec.maxInFlight !== undefined),
    ...(order === undefined ? [] : [order]),
  ];
}

function slotsOf(endpoint: Endpoint | undefined) {
  return endpoint && [endpoint.spec.maxInFlight ?? null, endpoint.status?.inFlight ?? []];
}

/** True for an ArtifactWorkflow that occupies a slot or waits in line for a slot: not while it waits for its place at the destination. */
function isInLine(workflow: ArtifactWorkflow | undefined): boolean {
  return (
    workflow !== undefined &&
    !isFinished(workflow) &&
    !isDeleting(workflow) &&
    !isRefused(workflow) &&
    workflow.status?.waitReason !== 'PlaceInUse' &&
    !hasEnded(workflow)
  );
}

/** Returns the number of members of a line. */
export function lengthOf(view: ObservedView, line: Endpoint | Order): number {
  return line.kind === 'Endpoint' ? view.countOfLimited(line) : view.countOfChildren(line);
}

/** Returns the members of a line that waited for room and have it now. */
export function nextOfLine(view: ObservedView, line: Endpoint | Order): ArtifactWorkflow[] {
  const isEndpoint = line.kind === 'Endpoint';
  const siblings = isEndpoint ? view.limitedBy(line) : view.childrenOf(line);
  const names = isEndpoint ? nextAt(view, line) : nextOf(siblings);
  const isWaiting = ({ metadata, status }: ArtifactWorkflow) =>
    status?.waitReason === 'LimitReached' && names.has(metadata.name);
  return names.size === 0 ? [] : siblings.filter(isWaiting);
}
