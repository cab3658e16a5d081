import { type KubeObject, sameJson } from '#shared/meta';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import { isFinished } from '../lifecycle/attempts.ts';
import { isDeleting, isFinalPhase, isHeld, phaseOf } from '../lifecycle/phases.ts';
import { needsConfiguration } from '../render/render.ts';
import { shownOf } from '../roll-up/entry.ts';
import { isRefused, limitingEndpoints } from '../submission/slots.ts';
import { isWorkflowWatched } from '../submission/submission.ts';
import type { Change, WakeIndex, WakeObject } from './change.ts';
import type { ChangeReason, WokenKind } from './reasons.ts';
import {
  artifactWorkflowOf,
  endpointsOfSecret,
  itself,
  known,
  nextInPlaceOf,
  nextSiblings,
  nextUnderLimit,
  orderOfLast,
  ordersOfEndpoint,
  ownerAsTarget,
  rivals,
  workflowsOfEndpoint,
} from './targets.ts';

/** One row: a change of `watched` wakes `targets` for `reason`. */
export interface WakeRule {
  watched: string;
  /** In words: for the documentation and for the check of the Triggers. */
  what: string;
  when(change: Change): boolean;
  target: WokenKind;
  reason: ChangeReason;
  targets(about: KubeObject, index: WakeIndex): Iterable<WakeObject>;
}

/** Every watched change that wakes something. Nothing else does, but due times and resyncs. */
export const wakeTable: readonly WakeRule[] = [
  {
    watched: 'Order',
    what: 'created, or its spec, annotations of ARC or deletion changed',
    // The function that added a finalizer goes on with the Order: a wake would start a second one on the same work.
    when: (change) => wanted(change) && !isOnlyHeld(change),
    target: 'Order',
    reason: 'changed',
    targets: itself,
  },
  {
    watched: 'ArtifactWorkflow',
    what: 'created, with our finalizer on it: there is nothing to submit yet',
    when: isNew,
    target: 'ArtifactWorkflow',
    reason: 'created',
    targets: itself,
  },
  {
    watched: 'ArtifactWorkflow',
    what: 'created otherwise, or its spec or annotations of ARC changed',
    when: (change) => wanted(change) && !isNew(change) && !isGoing(change.after),
    target: 'ArtifactWorkflow',
    reason: 'changed',
    targets: itself,
  },
  {
    watched: 'ArtifactWorkflow',
    what: 'it is to be deleted, or changed after that',
    when: (change) => wanted(change) && isGoing(change.after),
    target: 'ArtifactWorkflow',
    reason: 'stopping',
    targets: itself,
  },
  {
    watched: 'ArtifactWorkflow',
    what: 'an attempt ended',
    when: ended,
    target: 'ArtifactWorkflow',
    reason: 'ended',
    targets: itself,
  },
  {
    watched: 'ArtifactWorkflow',
    what: 'status.configSecret was set',
    when: ({ before, after }) =>
      after !== undefined && field(after, 'configSecret') && !sameField(before, after, 'configSecret'),
    target: 'ArtifactWorkflow',
    reason: 'rendered',
    targets: itself,
  },
  {
    watched: 'ArtifactWorkflow',
    what: 'spec.cancel was set',
    when: ({ before, after }) => isCancelled(after) && !isCancelled(before),
    target: 'ArtifactWorkflow',
    reason: 'cancelled',
    targets: itself,
  },
  {
    watched: 'ArtifactWorkflow',
    what: 'an attempt ended, and it did not succeed, takes a slot or is to run again',
    when: (change) => ended(change) && isToBeFollowed(change.after),
    target: 'ArtifactWorkflow',
    reason: 'failed',
    targets: itself,
  },
  {
    watched: 'ArtifactWorkflow',
    what: 'something changed that the status of its Order shows',
    when: ({ before, after }) => after !== undefined && !sameJson(shown(before), shown(after)),
    target: 'Order',
    reason: 'children',
    targets: (about) => ownerAsTarget(about, 'Order'),
  },
  {
    watched: 'ArtifactWorkflow',
    what: 'it disappeared',
    when: gone,
    target: 'Order',
    reason: 'gone',
    targets: orderOfLast,
  },
  {
    watched: 'ArtifactWorkflow',
    what: 'it disappeared, ended or was cancelled, and others that write to the same place may be waiting',
    when: (change) =>
      gone(change) || ended(change) || (isCancelled(change.after) && !isCancelled(change.before)),
    target: 'ArtifactWorkflow',
    reason: 'slot',
    targets: rivals,
  },
  {
    watched: 'ArtifactWorkflow',
    what: 'it disappeared or ended: there is room for the next ones of an Order with spec.parallelism',
    when: (change) => gone(change) || ended(change),
    target: 'ArtifactWorkflow',
    reason: 'slot',
    targets: nextSiblings,
  },
  {
    watched: 'ArtifactWorkflow',
    what: 'its Workflow is refused: others may start in its place, of its Order and under the limits of its Endpoints',
    when: ({ before, after }) => refused(after) && !refused(before),
    target: 'ArtifactWorkflow',
    reason: 'slot',
    targets: nextInPlaceOf,
  },
  {
    watched: 'Endpoint',
    what: 'created, or its spec, annotations or deletion changed',
    when: wanted,
    target: 'Endpoint',
    reason: 'changed',
    targets: itself,
  },
  {
    watched: 'Endpoint',
    what: 'its credentials were counted anew: they have not been tried',
    when: ({ before, after }) =>
      before !== undefined && after !== undefined && !sameField(before, after, 'secretGeneration'),
    target: 'Endpoint',
    reason: 'inputs',
    targets: itself,
  },
  {
    watched: 'Endpoint',
    what: 'created, changed, looked at in a new generation, its credentials counted anew, or gone',
    when: usableChanged,
    target: 'Order',
    reason: 'inputs',
    targets: ordersOfEndpoint,
  },
  {
    watched: 'Endpoint',
    what: 'created, changed, looked at in a new generation, its credentials counted anew, or gone',
    when: usableChanged,
    target: 'ArtifactWorkflow',
    reason: 'inputs',
    targets: workflowsOfEndpoint,
  },
  {
    watched: 'Endpoint',
    what: 'status.inFlight or spec.maxInFlight changed: room under a limit',
    when: ({ before, after }) =>
      before !== undefined &&
      after !== undefined &&
      (!sameField(before, after, 'inFlight') || !sameJson(maxInFlight(before), maxInFlight(after))),
    target: 'ArtifactWorkflow',
    reason: 'slot',
    targets: nextUnderLimit,
  },
  {
    watched: 'ArtifactType',
    what: 'created, its spec changed, or gone',
    when: specChanged,
    target: 'Order',
    reason: 'inputs',
    targets: (about, index) => index.ordersUsingType(about.metadata.namespace ?? '', about.metadata.name),
  },
  {
    watched: 'ClusterArtifactType',
    what: 'created, its spec changed, or gone',
    when: specChanged,
    target: 'Order',
    reason: 'inputs',
    targets: (about, index) => index.ordersUsingType(undefined, about.metadata.name),
  },
  ...(['WorkflowTemplate', 'ClusterWorkflowTemplate'] as const).map(
    (watched): WakeRule => ({
      watched,
      what: 'created, or gone',
      when: ({ before, after }) => !before || !after,
      target: 'Order',
      reason: 'inputs',
      targets: ({ metadata }, index) => index.ordersUsingTemplate(metadata.namespace, metadata.name),
    }),
  ),
  {
    watched: 'ServiceAccount',
    what: 'that of knative/tenant was created: its namespace is given to ARC',
    when: ({ before }) => before === undefined,
    target: 'Order',
    reason: 'inputs',
    targets: ({ metadata }, index) => index.ordersWaitingIn(metadata.namespace ?? ''),
  },
  {
    watched: 'Secret',
    what: 'created, written, or gone (only where the Secret watch is switched on; its data is not seen)',
    when: ({ before, after }) => before?.metadata.resourceVersion !== after?.metadata.resourceVersion,
    target: 'Endpoint',
    reason: 'inputs',
    targets: endpointsOfSecret,
  },
  {
    watched: 'Secret',
    what: 'a rendered configuration disappeared (only where the Secret watch is switched on)',
    when: gone,
    target: 'ArtifactWorkflow',
    reason: 'inputs',
    targets: (about, index) =>
      artifactWorkflowOf(about, index).filter((one) => known(one, index, needsConfiguration) ?? false),
  },
  ...(['Workflow', 'CronWorkflow'] as const).flatMap((watched): WakeRule[] => [
    {
      watched,
      what: 'its status changed, or the spec of one that Argo has seen; a schedule also when it is created',
      when: (change) => isMoved(change) && (watched === 'CronWorkflow' || hasStatus(change.after)),
      target: 'ArtifactWorkflow',
      reason: 'workflow',
      targets: artifactWorkflowOf,
    },
    {
      watched,
      what: 'created or changed, while it is to be stopped or is a schedule',
      when: isMoved,
      target: 'ArtifactWorkflow',
      reason: 'stopping',
      targets: (about, index) =>
        artifactWorkflowOf(about, index).filter((one) => known(one, index, isWorkflowWatched) ?? true),
    },
    {
      watched,
      what: 'it disappeared',
      when: gone,
      target: 'ArtifactWorkflow',
      reason: 'gone',
      targets: (about, index) =>
        artifactWorkflowOf(about, index).filter(
          (one) => known(one, index, (workflow) => isDeleting(workflow) || !isFinished(workflow)) ?? false,
        ),
    },
  ]),
];

function gone({ before, after }: Change): boolean {
  return before !== undefined && after === undefined;
}

/** What the user wants of the object has changed; what became of it has not. */
function wanted({ before, after }: Change): boolean {
  if (!after) return false;
  if (!before || before.metadata.uid !== after.metadata.uid) return true;
  return (
    // The server raises it with every change of the spec, of which the bridge does not keep all.
    before.metadata.generation !== after.metadata.generation ||
    !sameJson(before.spec, after.spec) ||
    !sameJson(before.metadata.annotations ?? {}, after.metadata.annotations ?? {}) ||
    // With the finalizers on it: the second of two functions may only now be free to let go.
    !sameJson(before.metadata.finalizers ?? [], after.metadata.finalizers ?? []) ||
    isDeleting(before) !== isDeleting(after)
  );
}

/** Nothing changed but that further finalizers hold an object that is to stay. */
function isOnlyHeld({ before, after }: Change): boolean {
  if (!before || !after || isDeleting(after)) return false;
  const { finalizers = [] } = after.metadata;
  const held = new Set(finalizers);
  if (before.metadata.finalizers?.some((name) => !held.has(name))) return false;
  return !wanted({
    kind: after.kind,
    before: { ...before, metadata: { ...before.metadata, finalizers } },
    after: { ...after, metadata: { ...after.metadata, finalizers } },
  });
}

/** Created as decompose-order does it. Whatever else is wanted of it, its configuration comes first, and wakes it when it is there. */
function isNew({ before, after }: Change): boolean {
  if (after === undefined || before?.metadata.uid === after.metadata.uid) return false;
  return isHeld(after as unknown as ArtifactWorkflow) && !isDeleting(after) && !field(after, 'configSecret');
}

function isGoing(object: KubeObject | undefined): boolean {
  return object !== undefined && isDeleting(object);
}

function specChanged({ before, after }: Change): boolean {
  return !before || !after || !sameJson(before.spec, after.spec);
}

function usableChanged(change: Change): boolean {
  const { before, after } = change;
  if (specChanged(change) || !before || !after) return true;
  return !sameField(before, after, 'observedGeneration') || !sameField(before, after, 'secretGeneration');
}

function ended({ before, after }: Change): boolean {
  return after !== undefined && isFinalPhase(phase(after)) && !(before && isFinalPhase(phase(before)));
}

/** The end of an attempt is something for submit-workflow. */
function isToBeFollowed(object: KubeObject | undefined): boolean {
  const workflow = object as unknown as ArtifactWorkflow;
  return phaseOf(workflow) !== 'Succeeded' || !isFinished(workflow) || limitingEndpoints(workflow).length > 0;
}

/** Argo's object was created, or is not what it was. */
function isMoved({ before, after }: Change): boolean {
  if (after === undefined) return false;
  return !sameJson(before?.status, after.status) || !sameJson(before?.spec, after.spec);
}

/** Argo has seen it. The bridge keeps an empty status of one that Argo has not. */
function hasStatus(object: KubeObject | undefined): boolean {
  return Object.keys(status(object)).length > 0;
}

function isCancelled(object: KubeObject | undefined): boolean {
  return (object as unknown as ArtifactWorkflow | undefined)?.spec.cancel === true;
}

function refused(object: KubeObject | undefined): boolean {
  return object !== undefined && isRefused(object as unknown as ArtifactWorkflow);
}

function phase(object: KubeObject | undefined) {
  // The bridge hands over what it watches; a row is only run for objects of its kind.
  return phaseOf((object ?? {}) as unknown as ArtifactWorkflow);
}

/** An Order shows one that has just been made as it shows one that is still to be made. */
function shown(object: KubeObject | undefined): unknown {
  return shownOf((object ?? { spec: {}, metadata: {} }) as unknown as ArtifactWorkflow);
}

function maxInFlight({ spec }: KubeObject): number | null {
  return (spec as Endpoint['spec'] | undefined)?.maxInFlight ?? null;
}

function status(object: KubeObject | undefined): Record<string, unknown> {
  return (object?.status ?? {}) as Record<string, unknown>;
}

function field(object: KubeObject, name: string): boolean {
  return status(object)[name] !== undefined;
}

function sameField(before: KubeObject | undefined, after: KubeObject, name: string): boolean {
  return sameJson(status(before)[name] ?? null, status(after)[name] ?? null);
}
