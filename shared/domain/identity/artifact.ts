import { canonicalJson } from '#shared/base/meta';
import type { ArtifactWorkflow, ArtifactWorkflowSpec } from '../kinds/artifact-workflow.ts';
import type { Cron, Parameter, WorkflowTemplateRef } from '../kinds/common.ts';
import type { Artifact, Order } from '../kinds/order.ts';
import { annotations, labels } from '../kinds/well-known.ts';
import { shortHash } from '../values/hash.ts';
import { keyOfName } from './names.ts';

/**
 * Identity of artifacts and of their versions. An artifact of an Order has an *id* and a *target*, both labels of its ArtifactWorkflows:
 * ArtifactWorkflows with the same id or the same target are versions of one artifact. The version with the highest *revision* is in force.
 * The *key* of a version is the hash of every input of the transfer: the suffix of its name, and its key in the Order's status.
 */

/** One artifact with the Order's defaults filled in. A name is undefined where neither the artifact nor the defaults set it. */
export interface EffectiveArtifact {
  type: string;
  source: string | undefined;
  destination: string | undefined;
  cron: Cron | undefined;
  spec: NonNullable<Artifact['spec']>;
}

export function withDefaults({ spec: { defaults = {} } }: Order, artifact: Artifact): EffectiveArtifact {
  const { type, srcRef = defaults.srcRef, dstRef = defaults.dstRef, cron = defaults.cron } = artifact;
  return { type, source: srcRef?.name, destination: dstRef?.name, cron, spec: artifact.spec ?? {} };
}

/** Returns the names of the Endpoints that an Order's artifacts refer to, deduplicated and sorted. */
export function endpointsUsed(order: Order): string[] {
  const names = (order.spec.artifacts ?? []).flatMap((artifact) => {
    const { source, destination } = withDefaults(order, artifact);
    return [source, destination].filter((name) => name !== undefined);
  });
  return [...new Set(names)].sort();
}

/** Returns the hash of what the user wrote for an artifact, without name, generations, force time and schedule. */
export function contentOf(order: Order, given: Artifact): string {
  const { type, source, destination, spec } = withDefaults(order, given);
  return shortHash([order.metadata.uid ?? '', type, source ?? null, destination ?? null, spec]);
}

/** Returns the id of an artifact, 16 hex digits: derived from its name, which survives edits, or from its content without a name. */
export function artifactId(order: Order, given: Artifact): string {
  return given.name === undefined
    ? contentOf(order, given)
    : shortHash([order.metadata.uid ?? '', 'name', given.name]);
}

/** Equal for two artifacts of one Order that request the same transfers: such transfers run once, whatever their names. */
export function likenessOf(order: Order, given: Artifact): string {
  const { type, source = null, destination = null, spec, cron = null } = withDefaults(order, given);
  return canonicalJson([type, source, destination, spec, cron]);
}

/** Every input of a transfer. Excludes what only says how the transfer is handled (TTL, retry, queue). */
export interface VersionInputs {
  order: Order;
  artifact: EffectiveArtifact;
  /** Of the type, like the parameters. */
  template: WorkflowTemplateRef;
  parameters: readonly Parameter[];
  /** The part of each Endpoint that is an input of the transfer. */
  source: readonly unknown[];
  destination: readonly unknown[];
  /** Digests of the enforced policies, beside that of the type; sorted. */
  policies: readonly string[];
  /** Unix seconds. */
  forceAt: number;
  /** True if every run looks for every blob. Switching this on runs an artifact again that was trusted so far. */
  verified: boolean;
}

/** Returns the key of one version of an artifact: 16 hex digits, a pure function of the inputs. */
export function versionKey(inputs: VersionInputs): string {
  const { order, artifact, template, parameters, source, destination, policies, forceAt, verified } = inputs;
  const { namespace = '', uid = '' } = order.metadata;
  const { type, spec, cron = null } = artifact;
  // An unset input is left out, as in the keys of releases that did not know it: an update re-runs nothing.
  const further = [...(policies.length === 0 ? [] : [policies]), ...(verified ? ['verified'] : [])];
  return shortHash([
    ...[namespace, uid, type, template, parameters, spec, source, destination, cron, forceAt],
    ...further,
  ]);
}

/** Returns the key, and the id, of an artifact that cannot be planned and therefore has no hash. */
export function indexKey(index: number): string {
  return `index-${index}`;
}

/** Returns the key of an ArtifactWorkflow in its Order's status; the whole name of an ArtifactWorkflow made by hand. */
export function keyOf({ metadata: { name } }: Pick<ArtifactWorkflow, 'metadata'>): string {
  return keyOfName(name) ?? name;
}

/** Returns the labels of a version of an artifact: they select an Order's children, an artifact's versions, and a target's writers. */
export function identityLabels(order: Order, id: string, target: string): Record<string, string> {
  return {
    [labels.artifact]: id,
    [labels.order]: order.metadata.uid ?? '',
    [labels.target]: target,
  };
}

/** Returns the id of the artifact that an ArtifactWorkflow is a version of; undefined for an ArtifactWorkflow made by hand. */
export function artifactIdOf({ metadata }: Pick<ArtifactWorkflow, 'metadata'>): string | undefined {
  return metadata.labels?.[labels.artifact];
}

/** Returns the selector for the children of an Order. Anybody can write the label: the owner reference decides. */
export function childSelector(order: Pick<Order, 'metadata'>): string {
  return `${labels.order}=${order.metadata.uid ?? ''}`;
}

/**
 * Returns selectors for the ArtifactWorkflows that must not run beside this one, itself included: the versions of its artifact, and
 * every writer to its target, of any Order. Empty for an ArtifactWorkflow made by hand without labels.
 */
export function conflictSelectors({ metadata }: ArtifactWorkflow): string[] {
  const { [labels.artifact]: id, [labels.order]: order, [labels.target]: target } = metadata.labels ?? {};
  return [
    ...(id === undefined || order === undefined ? [] : [`${labels.artifact}=${id},${labels.order}=${order}`]),
    ...(target === undefined ? [] : [`${labels.target}=${target}`]),
  ];
}

/** The keys that find the versions of an artifact among the children of its Order. */
export interface VersionKeys {
  id: string;
  /** Known once the artifact can be planned, like the name of the wanted version. Several, because earlier releases had other keys. */
  targets?: readonly string[];
  name?: string;
}

/**
 * Returns the versions of an artifact, including those being deleted, latest revision first: the children with its id, with its target
 * (an edit gives an unnamed artifact another id but not another target), or with the wanted name.
 */
export function versionsAmong(
  children: readonly ArtifactWorkflow[],
): (keys: VersionKeys) => ArtifactWorkflow[] {
  const labelled = (label: string) => {
    const groups = Map.groupBy(children, ({ metadata }) => metadata.labels?.[label]);
    groups.delete(undefined);
    return groups as ReadonlyMap<string | undefined, ArtifactWorkflow[]>;
  };
  const byId = labelled(labels.artifact);
  const byTarget = labelled(labels.target);
  const byName = new Map(children.map((child) => [child.metadata.name, child]));
  return ({ id, targets = [], name }) => {
    const named = name === undefined ? undefined : byName.get(name);
    const writers = targets.flatMap((target) => byTarget.get(target) ?? []);
    const found = [...(byId.get(id) ?? []), ...writers, ...(named ? [named] : [])];
    return [...new Set(found)].sort((a, b) => compareRevision(b, a));
  };
}

/** Returns the revision of a version; 0 for a version made by a release without revisions. */
export function revisionOf({ spec }: ArtifactWorkflow): number {
  return spec.revision ?? 0;
}

/** Compares two versions of one Order: negative if `a` was put in force before `b`. */
export function compareRevision(a: ArtifactWorkflow, b: ArtifactWorkflow): number {
  return revisionOf(a) - revisionOf(b) || compareAge(a, b);
}

/** Returns the hash of what the user had written for the artifact when the version was made. */
export function contentOfVersion({ metadata }: ArtifactWorkflow): string | undefined {
  return metadata.annotations?.[annotations.content] ?? metadata.labels?.[labels.artifact];
}

/** True for a version whose runs all look for every blob; false where only a forced run does. */
export function isAlwaysVerified({ spec }: ArtifactWorkflow): boolean {
  return spec.verify === 'Always';
}

/** Compares by creation time, then by name, so that every function sees the same order. Negative if `a` is older. */
export function compareAge(a: ArtifactWorkflow, b: ArtifactWorkflow): number {
  const created = ({ metadata }: ArtifactWorkflow) => metadata.creationTimestamp ?? '';
  return compare(created(a), created(b)) || compare(a.metadata.name, b.metadata.name);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Every field of an ArtifactWorkflow's spec. `identity` fields are inputs of the transfer and immutable; `policy` fields say how the
 * transfer is handled and follow the Order and the type.
 */
const specFields = {
  workflowTemplateRef: 'identity',
  parameters: 'identity',
  srcSecretRef: 'identity',
  dstSecretRef: 'identity',
  cron: 'identity',
  type: 'identity',
  srcRef: 'identity',
  dstRef: 'identity',
  artifact: 'identity',
  policies: 'identity',
  revision: 'identity',
  verify: 'identity',
  ttlAfterFinished: 'policy',
  ttlAfterFailed: 'policy',
  retry: 'policy',
  queueName: 'policy',
  limitedBy: 'policy',
  parallelism: 'policy',
  suspend: 'policy',
  cancel: 'policy',
} as const satisfies Record<keyof ArtifactWorkflowSpec, 'identity' | 'policy'>;

type FieldOf<Part> = {
  [Field in keyof typeof specFields]: (typeof specFields)[Field] extends Part ? Field : never;
}[keyof typeof specFields];
export type PolicyField = FieldOf<'policy'>;

function fieldsOf<Part extends 'identity' | 'policy'>(part: Part): FieldOf<Part>[] {
  const names = Object.keys(specFields) as (keyof typeof specFields)[];
  return names.filter((name): name is FieldOf<Part> => specFields[name] === part);
}

export const identityFields = fieldsOf('identity');
export const policyFields = fieldsOf('policy');
