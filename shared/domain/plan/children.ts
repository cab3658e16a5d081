import { mergePatchBetween } from '#shared/meta';
import { artifactIdOf, policyFields, versionsById } from '../identity/artifact.ts';
import type { ArtifactWorkflow, ArtifactWorkflowSpec } from '../kinds/artifact-workflow.ts';
import type { Order } from '../kinds/order.ts';
import { annotations, finalizers, unixSeconds } from '../kinds/well-known.ts';
import { isFinished } from '../lifecycle/attempts.ts';
import { hasFailed, isDeleting } from '../lifecycle/phases.ts';
import { historyLimit } from '../values/limits.ts';
import { currentVersions } from './current.ts';
import type { OrderPlan } from './plan.ts';

/** A merge patch (RFC 7386) for one ArtifactWorkflow. */
export interface ChildPatch {
  workflow: ArtifactWorkflow;
  patch: { spec?: Record<string, unknown>; metadata?: { annotations: Record<string, string> } };
}

export interface ChildDecision {
  /** The Order's own finalizer: put it on before anything is created, take it off when all children are gone. */
  finalizer: 'add' | 'remove' | 'keep';
  create: ArtifactWorkflow[];
  /** Unfinished and no longer wanted: delete; their finalizer stops the Workflow first. */
  stop: ArtifactWorkflow[];
  /** Finished and no longer kept: delete, guarded by resourceVersion. */
  remove: ArtifactWorkflow[];
  patches: ChildPatch[];
}

/**
 * The writes that turn the ArtifactWorkflows that exist into those of the plan. `existing` holds all that the Order owns,
 * those being deleted included. After these writes the decision is to write nothing.
 */
export function decideChildren(
  order: Order,
  plan: OrderPlan,
  existing: readonly ArtifactWorkflow[],
): ChildDecision {
  const held = order.metadata.finalizers?.includes(finalizers.children) === true;
  if (isDeleting(order)) {
    if (isOrphaning(order)) return { ...nothing, finalizer: held ? 'remove' : 'keep' };
    const stop = existing.filter((workflow) => !isDeleting(workflow));
    return { ...nothing, stop, finalizer: held && existing.length === 0 ? 'remove' : 'keep' };
  }
  const current = currentVersions(order, plan, existing);
  const inForce = new Set(current.flatMap(({ workflow }) => workflow?.metadata.name ?? []));
  const retryAt = unixSeconds(order.metadata.annotations?.[annotations.retryAt]);
  const create = current.flatMap(({ artifact, workflow, recorded }) => {
    if (artifact.state !== 'ready' || workflow) return [];
    return recorded && !retryWanted(recorded, retryAt) ? [] : [artifact.workflow];
  });
  const { stop, remove } = retire(plan, existing, inForce);
  const patches = current.flatMap(({ artifact, workflow }) =>
    artifact.state === 'ready' && workflow && !isDeleting(workflow)
      ? patchFor(artifact.workflow, workflow, retryAt)
      : [],
  );
  return { finalizer: held ? 'keep' : 'add', create, stop, remove, patches };
}

/** Deleted with propagationPolicy Orphan: the garbage collector makes the children independent, and they go on. */
function isOrphaning(order: Order): boolean {
  return order.metadata.finalizers?.includes('orphan') === true;
}

const nothing: ChildDecision = { finalizer: 'keep', create: [], stop: [], remove: [], patches: [] };

function retryWanted(entry: { phase: string; completionTime?: string }, retryAt: number): boolean {
  const failed = entry.phase === 'Failed' || entry.phase === 'Error';
  return failed && retryAt * 1000 >= Date.parse(entry.completionTime ?? '');
}

function retire(plan: OrderPlan, existing: readonly ArtifactWorkflow[], inForce: ReadonlySet<string>) {
  // While an artifact cannot be planned its versions are left alone: its inputs may come back soon.
  const undecided = new Set(plan.artifacts.filter(({ state }) => state !== 'ready').map(({ id }) => id));
  const obsolete = existing.filter(
    (workflow) =>
      !isDeleting(workflow) &&
      !inForce.has(workflow.metadata.name) &&
      !undecided.has(artifactIdOf(workflow) ?? ''),
  );
  const stop = obsolete.filter((workflow) => !isFinished(workflow));
  const history = versionsById(obsolete.filter((workflow) => isFinished(workflow)));
  const remove = [...history.values()].flatMap((versions) => versions.slice(historyLimit));
  return { stop, remove };
}

function patchFor(wanted: ArtifactWorkflow, actual: ArtifactWorkflow, retryAt: number): ChildPatch[] {
  const spec = policyPatch(wanted.spec, actual.spec);
  const annotation = retryAnnotation(actual, retryAt);
  if (!spec && !annotation) return [];
  return [
    {
      workflow: actual,
      patch: { ...(spec ? { spec } : {}), ...(annotation ? { metadata: { annotations: annotation } } : {}) },
    },
  ];
}

function policyPatch(wanted: ArtifactWorkflowSpec, actual: ArtifactWorkflowSpec) {
  const policy = (spec: ArtifactWorkflowSpec) =>
    Object.fromEntries(policyFields.map((field) => [field, spec[field]]));
  return mergePatchBetween(policy(actual), policy(wanted));
}

// The retry applies to artifacts that had failed at its time, not to those that fail later.
function retryAnnotation(workflow: ArtifactWorkflow, retryAt: number): Record<string, string> | undefined {
  const before = workflow.metadata.annotations?.[annotations.retryAt];
  if (retryAt === 0 || !hasFailed(workflow) || unixSeconds(before) >= retryAt) return undefined;
  const ended = Date.parse(workflow.status?.completionTime ?? '');
  return Number.isNaN(ended) || retryAt * 1000 >= ended
    ? { [annotations.retryAt]: String(retryAt) }
    : undefined;
}
