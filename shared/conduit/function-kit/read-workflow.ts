import type { Context } from '#shared/conduit/runtime';
import {
  type ArtifactWorkflow,
  type CronWorkflow,
  cronWorkflows,
  currentWorkflow,
  type Workflow,
  workflows,
} from '#shared/domain';
import { ignoreNotFound } from './api-errors.ts';
import { namespaceOf } from './metadata.ts';

/** Reads the Workflow of an ArtifactWorkflow's current attempt, or its CronWorkflow; undefined if there is none. */
export function readWorkflow(
  { api, signal }: Pick<Context, 'api' | 'signal'>,
  artifactWorkflow: ArtifactWorkflow,
): Promise<Workflow | CronWorkflow | undefined> {
  const { kind, name } = currentWorkflow(artifactWorkflow);
  const key = { ...namespaceOf(artifactWorkflow), name };
  // Without Argo's CRDs the API server does not know the kind: there is no Workflow then, and nothing to wait for.
  return ignoreNotFound<Workflow | CronWorkflow | undefined>(
    kind === 'CronWorkflow' ? api.get(cronWorkflows, key, signal) : api.get(workflows, key, signal),
  );
}
