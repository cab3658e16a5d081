import { canonicalJson } from '#shared/meta';
import type { ArtifactWorkflow, ArtifactWorkflowSpec } from '../kinds/artifact-workflow.ts';
import type { Cron, Parameter, WorkflowTemplateRef } from '../kinds/common.ts';
import type { Artifact, Order } from '../kinds/order.ts';
import { labels } from '../kinds/well-known.ts';
import { shortHash } from '../values/hash.ts';
import { keyOfName } from './names.ts';

/**
 * Which artifacts, and which ArtifactWorkflows, are the same artifact. An artifact of an Order has an *id*, the value of the
 * label that its ArtifactWorkflows carry: they are its versions. Each version has a *key*, a hash of all that makes it
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

/**
 * Gives the id of each artifact of one Order, 16 hex digits; ask in the order of `spec.artifacts`. Artifacts with one id are
 * one artifact. It holds what the user wrote, without generations, force time or schedule: a new schedule is the same
 * artifact. Only where one Order moves the same thing on two schedules does the schedule of the second count.
 */
export function artifactIdentifier(order: Order): (artifact: Artifact) => string {
  const schedules = new Map<string, string>();
  return (artifact) => {
    const { type, source, destination, cron, spec } = withDefaults(order, artifact);
    const id = shortHash([order.metadata.uid ?? '', type, source ?? null, destination ?? null, spec]);
    const schedule = canonicalJson(cron ?? null);
    const first = schedules.get(id);
    if (first === undefined) schedules.set(id, schedule);
    return first === undefined || first === schedule ? id : shortHash([id, schedule]);
  };
}

/** Everything that makes a transfer another one; not what only says how it is treated (TTL, retry, queue). */
export interface VersionInputs {
  order: Order;
  artifact: EffectiveArtifact;
  /** Of the type, as are the parameters. */
  template: WorkflowTemplateRef;
  parameters: readonly Parameter[];
  /** What of each Endpoint makes a transfer another one. */
  source: readonly unknown[];
  destination: readonly unknown[];
  /** Unix seconds. */
  forceAt: number;
}

/** The key of one version of an artifact: 16 hex digits, the same for the same inputs. */
export function versionKey(inputs: VersionInputs): string {
  const { order, artifact, template, parameters, source, destination, forceAt } = inputs;
  const { namespace = '', uid = '' } = order.metadata;
  const { type, spec, cron = null } = artifact;
  return shortHash([namespace, uid, type, template, parameters, spec, source, destination, cron, forceAt]);
}

/** The key, and the id, of an artifact that has none: it cannot be planned. */
export function indexKey(index: number): string {
  return `index-${index}`;
}

/** The key of an ArtifactWorkflow in its Order's status; the whole name of one that was made by hand. */
export function keyOf({ metadata: { name } }: Pick<ArtifactWorkflow, 'metadata'>): string {
  return keyOfName(name) ?? name;
}

/** The labels that a version of an artifact carries: they select an Order's children, and an artifact's versions. */
export function identityLabels(order: Order, id: string): Record<string, string> {
  return { [labels.artifact]: id, [labels.order]: order.metadata.uid ?? '' };
}

/** The id of the artifact that an ArtifactWorkflow is a version of; undefined for one that was made by hand. */
export function artifactIdOf({ metadata }: Pick<ArtifactWorkflow, 'metadata'>): string | undefined {
  return metadata.labels?.[labels.artifact];
}

/** Selects the children of an Order. Anybody can write the label: the owner reference decides. */
export function childSelector(order: Order): string {
  return `${labels.order}=${order.metadata.uid ?? ''}`;
}

/** Selects all versions of the artifact of an ArtifactWorkflow, itself included; undefined for one that was made by hand. */
export function versionSelector({ metadata }: ArtifactWorkflow): string | undefined {
  const { [labels.artifact]: id, [labels.order]: order } = metadata.labels ?? {};
  return id === undefined || order === undefined
    ? undefined
    : `${labels.artifact}=${id},${labels.order}=${order}`;
}

/** The versions by the id of their artifact, newest first; those made by hand under ''. */
export function versionsById(workflows: readonly ArtifactWorkflow[]): Map<string, ArtifactWorkflow[]> {
  const byId = Map.groupBy(workflows, (workflow) => artifactIdOf(workflow) ?? '');
  for (const versions of byId.values()) versions.sort((a, b) => compareAge(b, a));
  return byId;
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
  ttlAfterFinished: 'policy',
  ttlAfterFailed: 'policy',
  retry: 'policy',
  queueName: 'policy',
  suspend: 'policy',
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
