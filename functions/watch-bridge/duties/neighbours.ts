import { type KubeObject, sameJson } from '#shared/base/meta';
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
import type { ObservedView } from '../view/observed-view.ts';

/** A change of one object: both states for an update, one state for its appearance or disappearance. */
export interface Change {
  kind: string;
  before?: KubeObject | undefined;
  after?: KubeObject | undefined;
}

/** Yields the objects, beside the object itself and its Order, whose duties may depend on a changed object. `view` has the new state. */
export function* neighbours(view: ObservedView, change: Change): Iterable<KubeObject> {
  const { kind, before, after } = change;
  const about = after ?? before;
  if (about === undefined) return;
  const typed = <T>(objects: Iterable<T>) => objects as unknown as Iterable<KubeObject>;
  switch (kind) {
    case 'Order':
      yield* typed(ofOrder(view, change));
      return;
    case 'ArtifactWorkflow':
      yield* typed(ofArtifactWorkflow(view, change));
      return;
    case 'Endpoint':
      yield* typed(ofEndpoint(view, change));
      return;
    case 'ArtifactType':
    case 'ClusterArtifactType':
      if (!sameJson(before?.spec ?? null, after?.spec ?? null)) yield* typed(view.ordersOfType(about));
      return;
    case 'WorkflowTemplate':
    case 'ClusterWorkflowTemplate':
      if (before && after && appliesPolicies(before) === appliesPolicies(after)) return;
      for (const type of view.typesOfTemplate(about)) yield* typed(view.ordersOfType(type));
      return;
    case 'ServiceAccount':
      yield* typed(view.waitingIn(about.metadata.namespace ?? ''));
      return;
    case 'Secret':
      yield* typed(view.endpointsOfSecret(about));
      yield* typed(view.workflowOf(about));
      return;
    case 'Workflow':
    case 'CronWorkflow':
      yield* typed(view.workflowOf(about));
      return;
    case 'ConfigMap':
      // Every plan depends on the operator's settings, and so does every TTL.
      yield* view.objects();
  }
}

function* ofOrder(view: ObservedView, { before, after }: Change): Iterable<ArtifactWorkflow | Endpoint> {
  const order = (after ?? before) as unknown as Order;
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
  { before, after }: Change,
): Iterable<ArtifactWorkflow | Endpoint> {
  const workflow = (after ?? before) as unknown as ArtifactWorkflow;
  const was = before === undefined ? undefined : placeOf(before as unknown as ArtifactWorkflow);
  const is = after === undefined ? undefined : placeOf(after as unknown as ArtifactWorkflow);
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

function* ofEndpoint(view: ObservedView, { before, after }: Change): Iterable<Order | ArtifactWorkflow> {
  const about = (after ?? before) as unknown as Endpoint;
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
function useOf(object: KubeObject | undefined) {
  if (object === undefined) return undefined;
  const { metadata, spec, status = {} } = object as unknown as Endpoint;
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
    const [was, is] = [before, after].map((object) => slotsOf(object as unknown as Endpoint | undefined));
    const endpoint = after as unknown as Endpoint | undefined;
    return endpoint?.spec.maxInFlight === undefined || sameJson(was ?? null, is ?? null) ? [] : [endpoint];
  }
  if (kind !== 'ArtifactWorkflow') return [];
  const workflow = (after ?? before) as unknown as ArtifactWorkflow;
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
function isInLine(object: KubeObject | undefined): boolean {
  const workflow = object as unknown as ArtifactWorkflow | undefined;
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
  return line.kind === 'Endpoint'
    ? view.countOfLimited(line as Endpoint)
    : view.countOfChildren(line as Order);
}

/** Returns the members of a line that waited for room and have it now. */
export function nextOfLine(view: ObservedView, line: KubeObject): ArtifactWorkflow[] {
  const isEndpoint = line.kind === 'Endpoint';
  const endpoint = line as unknown as Endpoint;
  const siblings = isEndpoint ? view.limitedBy(endpoint) : view.childrenOf(line as unknown as Order);
  const names = isEndpoint ? nextAt(view, endpoint) : nextOf(siblings);
  const isWaiting = ({ metadata, status }: ArtifactWorkflow) =>
    status?.waitReason === 'LimitReached' && names.has(metadata.name);
  return names.size === 0 ? [] : siblings.filter(isWaiting);
}
