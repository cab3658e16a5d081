import { type ArtifactWorkflow, artifactWorkflows, labels } from '#shared/domain';
import type { Context, Wake } from '#shared/runtime';

/** The ArtifactWorkflow that a wake names, as it is now; undefined when it is gone. Those of several wakes at a time are read in one list. */
export function readArtifactWorkflow(
  { api, signal }: Pick<Context, 'api' | 'signal'>,
  { namespace, name, artifact }: Pick<Wake, 'namespace' | 'name' | 'artifact'>,
): Promise<ArtifactWorkflow | undefined> {
  const among = artifact === undefined ? undefined : `${labels.artifact}=${artifact}`;
  return api.get(artifactWorkflows, { namespace, name, among }, signal);
}
