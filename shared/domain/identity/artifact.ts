import { canonicalJson } from '#shared/base/meta';
import type { ArtifactWorkflow, ArtifactWorkflowSpec } from '../kinds/artifact-workflow.ts';
import type { Cron, Parameter, WorkflowTemplateRef } from '../kinds/common.ts';
import type { Artifact, Order } from '../kinds/order.ts';
import { annotations, labels } from '../kinds/well-known.ts';
import { shortHash } from '../values/hash.ts';
import { keyOfName } from './names.ts';

/**
 * Which artifacts, and which ArtifactWorkflows, are the same artifact. An artifact of an Order has an *id* and a *target*, labels
 * that its ArtifactWorkflows carry: those with the same id or target are its versions. The one with the highest *revision* is in force. Each version has a *key*, a hash of all that makes it
 * another transfer, which ends its name and is its key in the Order's status.
 */

/** One artifact with the Order's defaults where it sets nothing itself. Names are undefined where neither does. */
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

/** Names of the Endpoints that an Order's artifacts refer to, each once, sorted. */
export function endpointsUsed(order: Order): string[] {
  const names = (order.spec.artifacts ?? []).flatMap((artifact) => {
    const { source, destination } = withDefaults(order, artifact);
    return [source, destination].filter((name) => name !== undefined);
  });
  return [...new Set(names)].sort();
}

/** What the user wrote of an artifact, hashed: without name, generations, force time and schedule. */
export function contentOf(order: Order, given: Artifact): string {
  const { type, source, destination, spec } = withDefaults(order, given);
  return shortHash([order.metadata.uid ?? '', type, source ?? null, destination ?? null, spec]);
}

/** The id of an artifact, 16 hex digits: by its name, which an edit keeps, or by its content where it has none. */
export function artifactId(order: Order, given: Artifact): string {
  return given.name === undefined
    ? contentOf(order, given)
    : shortHash([order.metadata.uid ?? '', 'name', given.name]);
}

/** The same for two artifacts of one Order that ask for the same transfers: they are moved once, whatever their names. */
export function likenessOf(order: Order, given: Artifact): string {
  const { type, source = null, destination = null, spec, cron = null } = withDefaults(order, given);
  return canonicalJson([type, source, destination, spec, cron]);
}

/** Everything that makes a transfer another one; not what only says how it is treated (TTL, retry, queue). */
export interface VersionInputs {
  order: Order;
  artifact: EffectiveArtifact;
  /** Of the type, as are the parameters. */
  template: WorkflowTemplateRef;
  parameters: readonly Parameter[];
  /** The part of each Endpoint that makes a transfer another one. */
  source: readonly unknown[];
  destination: readonly unknown[];
  /** Digests of the policies that bind it beside that of its type, sorted. */
  policies: readonly string[];
  /** Unix seconds. */
  forceAt: number;
  /** True: every run looks for every blob. Asking for that runs what was trusted so far again. */
  verified: boolean;
}

/** The key of one version of an artifact: 16 hex digits, the same for the same inputs. */
export function versionKey(inputs: VersionInputs): string {
  const { order, artifact, template, parameters, source, destination, policies, forceAt, verified } = inputs;
  const { namespace = '', uid = '' } = order.metadata;
  const { type, spec, cron = null } = artifact;
  // What is not asked for is left out, as in the keys of releases that did not know it: an update re-runs nothing.
  const further = [...(policies.length === 0 ? [] : [policies]), ...(verified ? ['verified'] : [])];
  return shortHash([
    ...[namespace, uid, type, template, parameters, spec, source, destination, cron, forceAt],
    ...further,
  ]);
}

/** The key, and the id, of an artifact that has none: it cannot be planned. */
export function indexKey(index: number): string {
  return `index-${index}`;
}

/** The key of an ArtifactWorkflow in its Order's status; the whole name of one that was made by hand. */
export function keyOf({ metadata: { name } }: Pick<ArtifactWorkflow, 'metadata'>): string {
  return keyOfName(name) ?? name;
}

/** The labels that a version of an artifact carries: they select an Order's children, an artifact's versions, and a target's writers. */
export function identityLabels(order: Order, id: string, target: string): Record<string, string> {
  return {
    [labels.artifact]: id,
    [labels.order]: order.metadata.uid ?? '',
    [labels.target]: target,
  };
}

/** The id of the artifact that an ArtifactWorkflow is a version of; undefined for one that was made by hand. */
export function artifactIdOf({ metadata }: Pick<ArtifactWorkflow, 'metadata'>): string | undefined {
  return metadata.labels?.[labels.artifact];
}

/** Selects the children of an Order. Anybody can write the label: the owner reference decides. */
export function childSelector(order: Pick<Order, 'metadata'>): string {
  return `${labels.order}=${order.metadata.uid ?? ''}`;
}

/**
 * Selects the ArtifactWorkflows that must not run beside this one, itself included: versions of its artifact, and whatever writes
 * to its target, of any Order. None for one that was made by hand without labels.
 */
export function rivalSelectors({ metadata }: ArtifactWorkflow): string[] {
  const { [labels.artifact]: id, [labels.order]: order, [labels.target]: target } = metadata.labels ?? {};
  return [
    ...(id === undefined || order === undefined ? [] : [`${labels.artifact}=${id},${labels.order}=${order}`]),
    ...(target === undefined ? [] : [`${labels.target}=${target}`]),
  ];
}

/** What finds the versions of an artifact among the children of its Order. */
export interface VersionKeys {
  id: string;
  /** Known once the artifact can be planned, as is the name of the version that it needs. Several: keys of earlier releases too. */
  targets?: readonly string[];
  name?: string;
}

/**
 * Finds the versions of an artifact, those being deleted included, the one put in force last first: of its id, of its target (an
 * unnamed artifact has another id after an edit, and is the same while it writes to the same place), and of the wanted name.
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

/** The revision of a version; 0 for one that an earlier release made. */
export function revisionOf({ spec }: ArtifactWorkflow): number {
  return spec.revision ?? 0;
}

/** Below zero if `a` was put in force before `b`, both of one Order. */
export function compareRevision(a: ArtifactWorkflow, b: ArtifactWorkflow): number {
  return revisionOf(a) - revisionOf(b) || compareAge(a, b);
}

/** What the user had written of the artifact that a version was made for. */
export function contentOfVersion({ metadata }: ArtifactWorkflow): string | undefined {
  return metadata.annotations?.[annotations.content] ?? metadata.labels?.[labels.artifact];
}

/** True for a version of an Order that has each run look for every blob; not for one that a force alone has do so. */
export function isAlwaysVerified({ spec }: ArtifactWorkflow): boolean {
  return spec.verify === 'Always';
}

/** Below zero if `a` is older than `b`: by creation, ties by name, so that every function sees the same order. */
export function compareAge(a: ArtifactWorkflow, b: ArtifactWorkflow): number {
  const created = ({ metadata }: ArtifactWorkflow) => metadata.creationTimestamp ?? '';
  return compare(created(a), created(b)) || compare(a.metadata.name, b.metadata.name);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/**
 * Each field of an ArtifactWorkflow's spec: those of its `identity` make it another transfer and are immutable, those of its
 * `policy` say how it is treated and follow the Order and the type.
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
