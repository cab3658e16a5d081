import { ownerReference } from '#shared/base/meta';
import { cronWorkflowName, isLabelValue, workflowName } from '../identity/names.ts';
import type { CronWorkflow, Workflow, WorkflowSpec } from '../kinds/argo.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Parameter } from '../kinds/common.ts';
import { argoApiVersion } from '../kinds/refs.ts';
import { absentSecretName, annotations, labels } from '../kinds/well-known.ts';
import { revisionOf } from './adopt.ts';

/** Finished Workflows are kept for a day: results are copied to the ArtifactWorkflow, and an outage of ARC may take a while. */
const keepFinishedSeconds = 86_400;

export interface WorkflowOptions {
  /** Argo's controller `instanceID`; a controller with an instanceID ignores Workflows without its label. */
  instanceId?: string;
}

/**
 * Returns the Argo object of one attempt: a CronWorkflow for a schedule, else a Workflow. Uses only fields that Argo allows
 * beside a template reference under `templateReferencing: Strict`. Pure: the same input gives the same object, name included.
 */
export function workflowFor(
  workflow: ArtifactWorkflow,
  attempt: number,
  options: WorkflowOptions = {},
): Workflow | CronWorkflow {
  return workflow.spec.cron ? cronFor(workflow, options) : singleFor(workflow, attempt, options);
}

function singleFor(workflow: ArtifactWorkflow, attempt: number, options: WorkflowOptions): Workflow {
  const ownLabels = { ...labelsFor(workflow, options), [labels.attempt]: String(attempt) };
  return {
    apiVersion: argoApiVersion,
    kind: 'Workflow',
    metadata: metadataFor(workflow, workflowName(workflow.metadata.name, attempt), ownLabels),
    spec: specFor(workflow),
  };
}

function cronFor(workflow: ArtifactWorkflow, options: WorkflowOptions): CronWorkflow {
  const ownLabels = labelsFor(workflow, options);
  const { cron, suspend } = workflow.spec;
  return {
    apiVersion: argoApiVersion,
    kind: 'CronWorkflow',
    metadata: metadataFor(workflow, cronWorkflowName(workflow.metadata.name), ownLabels),
    spec: {
      ...cron,
      // Forbid: a run that outlasts the interval is neither doubled nor killed.
      concurrencyPolicy: 'Forbid',
      successfulJobsHistoryLimit: 1,
      failedJobsHistoryLimit: 1,
      ...(suspend === true ? { suspend: true } : {}),
      workflowSpec: specFor(workflow),
      workflowMetadata: { labels: ownLabels },
    },
  };
}

function metadataFor(workflow: ArtifactWorkflow, name: string, ownLabels: Record<string, string>) {
  const { namespace } = workflow.metadata;
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    labels: ownLabels,
    annotations: { [annotations.revision]: revisionOf(workflow) },
    ownerReferences: [ownerReference(workflow)],
  };
}

function labelsFor(
  { metadata, spec }: ArtifactWorkflow,
  { instanceId }: WorkflowOptions,
): Record<string, string> {
  const inherited = [labels.artifact, labels.artifactType, labels.order, labels.orderName].flatMap((name) => {
    const value = metadata.labels?.[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return {
    ...Object.fromEntries(inherited),
    ...(isLabelValue(metadata.name) ? { [labels.artifactWorkflow]: metadata.name } : {}),
    ...(spec.queueName === undefined ? {} : { [labels.queue]: spec.queueName }),
    ...(instanceId === undefined ? {} : { [labels.argoInstance]: instanceId }),
  };
}

function specFor({ spec, metadata, status }: ArtifactWorkflow): WorkflowSpec {
  const { name, clusterScope } = spec.workflowTemplateRef;
  const ours: Parameter[] = [
    { name: 'configSecretName', value: status?.configSecret?.name ?? metadata.name },
    { name: 'srcSecretName', value: spec.srcSecretRef?.name ?? absentSecretName },
    { name: 'dstSecretName', value: spec.dstSecretRef?.name ?? absentSecretName },
    // For templates that label their pod with a Kueue LocalQueue: Strict does not let the Workflow do so.
    ...(spec.queueName === undefined ? [] : [{ name: 'queueName', value: spec.queueName }]),
  ];
  const reserved = new Set(ours.map((parameter) => parameter.name));
  const given = (spec.parameters ?? []).filter((parameter) => !reserved.has(parameter.name));
  return {
    workflowTemplateRef: clusterScope === true ? { name, clusterScope } : { name },
    arguments: { parameters: [...given, ...ours] },
    ttlStrategy: { secondsAfterCompletion: keepFinishedSeconds },
  };
}

/**
 * Returns an Argo object in suspended form. It is released when its ArtifactWorkflow, read again after the creation, is unchanged. A creation
 * that arrives late, after its ArtifactWorkflow was stopped or deleted, therefore never runs: nobody releases the object, and the garbage
 * collector removes it. Argo starts no pod of a suspended Workflow and no run of a suspended CronWorkflow.
 */
export function unreleased<T extends Workflow | CronWorkflow>(object: T): T {
  const marks = { ...object.metadata.annotations, [annotations.unreleased]: 'true' };
  return {
    ...object,
    metadata: { ...object.metadata, annotations: marks },
    spec: { ...object.spec, suspend: true },
  };
}

/** True until the object is released. A suspension without our annotation was made by a person and is left alone. */
export function isUnreleased({ metadata, spec }: Workflow | CronWorkflow): boolean {
  return spec.suspend === true && metadata.annotations?.[annotations.unreleased] !== undefined;
}

/**
 * Returns the merge patch that releases the object; a schedule may stay suspended. Without resourceVersion, because Argo writes a status at any
 * time: the removal of an unreleased Workflow is guarded by resourceVersion instead.
 */
export function releasePatch(suspend: boolean) {
  return {
    metadata: { annotations: { [annotations.unreleased]: null } },
    spec: { suspend: suspend || null },
  };
}
