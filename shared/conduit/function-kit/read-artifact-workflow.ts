import type { Context, StepEvent } from '#shared/conduit/runtime';
import { type ArtifactWorkflow, artifactWorkflows, labels } from '#shared/domain';

/** Reads the ArtifactWorkflow of an event; undefined when it is gone. Concurrent reads are batched into one list. */
export function readArtifactWorkflow(
  { api, signal }: Pick<Context, 'api' | 'signal'>,
  { namespace, name, artifact }: Pick<StepEvent, 'namespace' | 'name' | 'artifact'>,
): Promise<ArtifactWorkflow | undefined> {
  const among = artifact === undefined ? undefined : `${labels.artifact}=${artifact}`;
  return api.get(artifactWorkflows, { namespace, name, among }, signal);
}
