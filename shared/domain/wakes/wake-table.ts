import { type KubeObject, ownerOfKind, sameJson } from '#shared/meta';
import { artifactIdOf } from '../identity/artifact.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import { apiVersion } from '../kinds/refs.ts';
import { labels } from '../kinds/well-known.ts';
import { isFinished } from '../lifecycle/attempts.ts';
import { isDeleting, isFinalPhase, phaseOf } from '../lifecycle/phases.ts';
import { nextInLine, nextOfOrder } from '../submission/slots.ts';
import type { Change, WakeIndex, WakeObject } from './change.ts';
import type { ChangeReason, WokenKind } from './reasons.ts';

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

const itself = (about: KubeObject): WakeObject[] => [about];
const namespaceOf = (about: KubeObject): string => about.metadata.namespace ?? '';

const ordersOfEndpoint = (about: KubeObject, index: WakeIndex) =>
  index.ordersUsingEndpoint(namespaceOf(about), about.metadata.name);

const workflowsOfEndpoint = (about: KubeObject, index: WakeIndex) =>
  index.artifactWorkflowsUsingEndpoint(namespaceOf(about), about.metadata.name);

const endpointsOfSecret = (about: KubeObject, index: WakeIndex) =>
  index.endpointsUsingSecret(namespaceOf(about), about.metadata.name);

/** Other versions of the same artifact, and others that write to the same place. */
function* rivals(about: KubeObject, index: WakeIndex): Iterable<WakeObject> {
  const id = artifactIdOf(about);
  const target = about.metadata.labels?.[labels.target];
  const found = [
    ...(id === undefined ? [] : index.artifactWorkflowsOfArtifact(namespaceOf(about), id)),
    ...(target === undefined ? [] : index.artifactWorkflowsOfTarget(namespaceOf(about), target)),
  ];
  for (const one of found) if (one.metadata.name !== about.metadata.name) yield one;
}

/** Those that may start where an Endpoint limits how many do. */
function nextUnderLimit(about: KubeObject, index: WakeIndex): Iterable<WakeObject> {
  const users = [...index.artifactWorkflowsLimitedBy(namespaceOf(about), about.metadata.name)];
  return nextInLine(about as unknown as Endpoint, users);
}

function nextSiblings(about: KubeObject, index: WakeIndex): Iterable<WakeObject> {
  if ((about as unknown as ArtifactWorkflow).spec.parallelism === undefined) return [];
  return nextOfOrder([...index.artifactWorkflowsOfOrder(ownerOfKind(about, 'Order')?.uid ?? '')]);
}

/** The ArtifactWorkflow of an Argo object: its owner, or for the run of a CronWorkflow the one its label names. */
function artifactWorkflowOf(about: KubeObject, index: WakeIndex): WakeObject[] {
  const named = about.metadata.labels?.[labels.artifactWorkflow];
  const known = named === undefined ? undefined : index.artifactWorkflowNamed(namespaceOf(about), named);
  const owner = ownerAsTarget(about, 'ArtifactWorkflow');
  return owner.length > 0 ? owner : known ? [known] : [];
}

/** The owner of an object as something to wake; it may be gone, which the function that is woken will see. */
function ownerAsTarget(object: WakeObject, kind: string): WakeObject[] {
  const owner = ownerOfKind(object, kind);
  if (!owner) return [];
  const { namespace, labels: ownLabels } = object.metadata;
  return [
    {
      apiVersion,
      kind,
      metadata: {
        name: owner.name,
        uid: owner.uid,
        ...(namespace === undefined ? {} : { namespace }),
        ...(ownLabels === undefined ? {} : { labels: ownLabels }),
      },
    },
  ];
}

/** Every watched change that wakes something. Nothing else does, but due times and resyncs. */
export const wakeTable: readonly WakeRule[] = [
  {
    watched: 'Order',
    what: 'created, or its spec, annotations or deletion changed',
    // The function that added a finalizer goes on with the Order: a wake would start a second one on the same work.
    when: (change) => wanted(change) && !isOnlyHeld(change),
    target: 'Order',
    reason: 'changed',
    targets: itself,
  },
  {
    watched: 'ArtifactWorkflow',
    what: 'created, its spec, annotations or deletion changed, or its attempt ended',
    when: (change) => wanted(change) || ended(change),
    target: 'ArtifactWorkflow',
    reason: 'changed',
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
    what: 'an attempt failed',
    when: (change) => ended(change) && phase(change.after) !== 'Succeeded' && !isCancelled(change.after),
    target: 'ArtifactWorkflow',
    reason: 'failed',
    targets: itself,
  },
  {
    watched: 'ArtifactWorkflow',
    what: 'its status changed, in more than that the configuration of a finished one is gone',
    when: ({ before, after }) => after !== undefined && !sameJson(rolledUp(before), rolledUp(after)),
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
    targets: (about) => ownerAsTarget(about, 'Order'),
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
    targets: (about, index) => index.ordersUsingType(namespaceOf(about), about.metadata.name),
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
    reason: 'gone',
    targets: artifactWorkflowOf,
  },
  ...(['Workflow', 'CronWorkflow'] as const).flatMap((watched): WakeRule[] => [
    {
      watched,
      what: 'created or changed',
      when: ({ before, after }) =>
        after !== undefined &&
        (!sameJson(before?.status, after.status) || !sameJson(before?.spec, after.spec)),
      target: 'ArtifactWorkflow',
      reason: 'workflow',
      targets: artifactWorkflowOf,
    },
    {
      watched,
      what: 'it disappeared',
      when: gone,
      target: 'ArtifactWorkflow',
      reason: 'gone',
      targets: artifactWorkflowOf,
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

function isCancelled(object: KubeObject | undefined): boolean {
  return (object as unknown as ArtifactWorkflow | undefined)?.spec.cancel === true;
}

function phase(object: KubeObject | undefined) {
  // The bridge hands over what it watches; a row is only run for objects of its kind.
  return phaseOf((object ?? {}) as unknown as ArtifactWorkflow);
}

/** The part of an ArtifactWorkflow's status that its Order's may depend on. A finished one loses its configuration, which changes nothing. */
function rolledUp(object: KubeObject | undefined): unknown {
  if (object === undefined || !isFinished(object as unknown as ArtifactWorkflow)) return object?.status;
  const { configSecret: _, ...rest } = status(object);
  return rest;
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
