import type { Context, StepEvent } from '#shared/conduit/runtime';
import { type ArtifactWorkflow, artifactWorkflows, labels } from '#shared/domain';

/** The ArtifactWorkflow that an event names, as it is now; undefined when it is gone. Those of several events at a time are read in one list. */
export function readArtifactWorkflow(
  { api, signal }: Pick<Context, 'api' | 'signal'>,
  { namespace, name, artifact }: Pick<StepEvent, 'namespace' | 'name' | 'artifact'>,
): Promise<ArtifactWorkflow | undefined> {
  const among = artifact === undefined ? undefined : `${labels.artifact}=${artifact}`;
  return api.get(artifactWorkflows, { namespace, name, among }, signal);
}
