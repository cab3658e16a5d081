import { type KubeObject, ownerOfKind } from '#shared/meta';
import { artifactIdOf } from '../identity/artifact.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import { annotations, labels } from '../kinds/well-known.ts';
import { isSettingOut } from '../roll-up/entry.ts';
import type { Change, WakeIndex, WakeObject } from './change.ts';
import type { WakeReason } from './reasons.ts';
import { type WakeRule, wakeTable } from './wake-table.ts';

export interface WakeTarget {
  apiVersion: string;
  kind: string;
  namespace: string;
  name: string;
  uid: string;
  /** Of an ArtifactWorkflow, the artifact that it is a version of (`artifactIdOf`): by it several can be read in one list. */
  artifact?: string;
}

export interface Waking {
  target: WakeTarget;
  reason: WakeReason;
  /** Uid of the root object: the Order of an ArtifactWorkflow, else the object itself. */
  partitionKey: string;
}

/** Which objects must wake because of one watched change, each object and reason once. */
export function wakesFor(change: Change, index: WakeIndex): Waking[] {
  const found = new Map<string, Waking>();
  const about = change.after ?? change.before;
  if (!about) return [];
  for (const rule of wakeTable) {
    if (rule.watched !== change.kind || !rule.when(change)) continue;
    for (const object of targetsOf(rule, about, index)) {
      const waking = wakingOf(object, rule.reason);
      found.set(`${waking.target.kind}/${waking.target.uid}/${waking.reason}`, waking);
    }
  }
  return [...found.values()];
}

function targetsOf(rule: WakeRule, about: KubeObject, index: WakeIndex): Iterable<WakeObject> {
  // A target without a uid does not exist: there is nothing to wake.
  return [...rule.targets(about, index)].filter(({ metadata }) => metadata.uid !== undefined);
}

/** True if a change of an ArtifactWorkflow shows its Order no more than that its Workflow has been submitted. */
export function isOnlySubmitted({ kind, before, after }: Change): boolean {
  if (kind !== 'ArtifactWorkflow' || before === undefined || after === undefined) return false;
  return [before, after].every((one) => isSettingOut(one as unknown as ArtifactWorkflow));
}

/** True if a change of an Order asks for a retry. Where its artifacts were cancelled, its status does not show that one is owed. */
export function asksForRetry({ kind, before, after }: Change): boolean {
  const asked = (object: WakeObject | undefined) => object?.metadata.annotations?.[annotations.retryAt];
  return kind === 'Order' && before !== undefined && after !== undefined && asked(before) !== asked(after);
}

/** The wake of one object: for the table of wakes, and for due times and resyncs, which no change announces. */
export function wakingOf(object: WakeObject, reason: WakeReason): Waking {
  const { apiVersion, kind, metadata } = object;
  const { name, namespace = '', uid = '' } = metadata;
  const artifact = kind === 'ArtifactWorkflow' ? artifactIdOf(object) : undefined;
  return {
    target: { apiVersion, kind, namespace, name, uid, ...(artifact === undefined ? {} : { artifact }) },
    reason,
    partitionKey: rootUid(object),
  };
}

/** Uid of the Order that an object belongs to, else its own: what keeps the events of one Order together. */
export function rootUid(object: WakeObject): string {
  const { uid = '', labels: selected } = object.metadata;
  // Both are roots, whatever labels they carry.
  if (object.kind === 'Order' || object.kind === 'Endpoint') return uid;
  return ownerOfKind(object, 'Order')?.uid ?? selected?.[labels.order] ?? uid;
}
