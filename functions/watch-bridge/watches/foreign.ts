import {
  type ArtifactWorkflow,
  artifactWorkflows,
  type Change,
  hasEnded,
  isDeleting,
  isFinished,
  isInShard,
  isRefused,
  isWokenKind,
  labels,
  limitingEndpoints,
  phaseOf,
  rootUid,
  type Shard,
} from '#shared/domain';
import type { KnownStates } from '#shared/kube';
import type { KubeObject } from '#shared/meta';

/**
 * Objects of other shards. None of them wakes here, but two kinds of changes of a foreign ArtifactWorkflow wake others: its end, those that wait
 * for its place at a destination; its slot, those that wait for room at an Endpoint. Everything else that a shard looks up about an object is of
 * the object's own shard, or of a kind that all shards hold: Endpoints, types, templates.
 */

/** Kinds of objects that concern one root alone where they carry the label of an Order, and may concern any where they do not. */
const ofOrders: ReadonlySet<string> = new Set(['Workflow', 'CronWorkflow', 'Secret']);

/** True for an object that concerns roots of other shards. */
export function isForeign(object: KubeObject, shard: Shard): boolean {
  const isRooted = ofOrders.has(object.kind)
    ? object.metadata.labels?.[labels.order] !== undefined
    : isWokenKind(object.kind);
  return isRooted && !isInShard(object, shard);
}

/** What a shard keeps of an object until its next change; undefined: nothing. */
export function keptOf(object: KubeObject, shard: Shard): KubeObject | undefined {
  if (!isForeign(object, shard) || object.kind === 'Endpoint') return object;
  if (object.kind !== 'ArtifactWorkflow') return undefined;
  const workflow = object as unknown as ArtifactWorkflow;
  if (isOutOfTheWay(workflow)) return undefined;
  return takesPartInSlots(workflow) ? object : slim(workflow);
}

/** True if an ArtifactWorkflow holds up no other, so that its next change frees nothing. */
export function isOutOfTheWay(workflow: ArtifactWorkflow): boolean {
  return isFinished(workflow) && !isDeleting(workflow);
}

/** True for one whose whole state says who is next where an Endpoint limits how many run. */
function takesPartInSlots(workflow: ArtifactWorkflow): boolean {
  return !isFinished(workflow) && (limitingEndpoints(workflow).length > 0 || isRefused(workflow));
}

/**
 * A change as the table of wakes is to see it: a foreign ArtifactWorkflow that had ended and was forgotten does not end again. One that came and
 * ended while the watch had a gap is taken for such: what it held up is found by a resync.
 */
export function withForgotten(change: Change, shard: Shard): Change {
  const { kind, before, after } = change;
  if (kind !== 'ArtifactWorkflow' || before !== undefined || after === undefined) return change;
  const wasForgotten = hasEnded(after as unknown as ArtifactWorkflow) && isForeign(after, shard);
  return wasForgotten ? { ...change, before: after } : change;
}

/** The fields on which depends whom the next change of a foreign ArtifactWorkflow wakes. */
function slim(workflow: ArtifactWorkflow): KubeObject {
  const { name, namespace, uid, labels: selected } = workflow.metadata;
  const { [labels.artifact]: artifact, [labels.target]: target } = selected ?? {};
  const { apiVersion, kind } = artifactWorkflows;
  return {
    apiVersion,
    kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(uid === undefined ? {} : { uid }),
      labels: {
        [labels.order]: rootUid(workflow as unknown as KubeObject),
        ...(artifact === undefined ? {} : { [labels.artifact]: artifact }),
        ...(target === undefined ? {} : { [labels.target]: target }),
      },
    },
    spec: workflow.spec.cancel === true ? { cancel: true } : {},
    status: { phase: phaseOf(workflow) },
  };
}

/**
 * Keeps the ArtifactWorkflows of other shards apart from `own`, which answers what is known of this one's. They are unfinished, and kept as
 * they are. One that changes sides is in one of the two.
 */
export function withForeignApart(own: KnownStates<KubeObject>, shard: Shard): KnownStates<KubeObject> {
  if (shard.of === 1) return own;
  const foreign: KnownStates<KubeObject> = new Map();
  return {
    get: (key) => own.get(key) ?? foreign.get(key),
    set(key, known) {
      const isApart = known.value.kind === 'ArtifactWorkflow' && isForeign(known.value, shard);
      const [there, other] = isApart ? [foreign, own] : [own, foreign];
      other.delete(key);
      there.set(key, known);
    },
    delete(key) {
      own.delete(key);
      foreign.delete(key);
    },
    *entries() {
      yield* own.entries();
      yield* foreign.entries();
    },
  };
}
