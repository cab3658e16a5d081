import { orphanPatch, workflows } from '#shared/domain';
import type { Cluster } from '../core/session.ts';

export interface KnownOwner {
  namespace: string;
  name: string;
  uid: string;
}

/**
 * Protects Workflows of ArtifactWorkflows that the backup does not contain from garbage collection, so that submit-workflow can adopt them for
 * recreated ArtifactWorkflows. A name that the backup contains with another UID is skipped: its Workflow belongs to another version. CronWorkflows
 * are skipped because they are recreated and would otherwise run forever without an owner.
 *
 * @returns the number of kept Workflows
 */
export async function keepRuns(
  { api }: Pick<Cluster, 'api'>,
  owners: readonly KnownOwner[],
  signal: AbortSignal,
): Promise<number> {
  const known = new Set(owners.map(({ namespace, name }) => `${namespace}/${name}`));
  const isKnown = ({ namespace, name }: KnownOwner) => known.has(`${namespace}/${name}`);
  const { items } = await api.list(workflows, {}, signal);
  let kept = 0;
  for (const object of items) {
    const patch = orphanPatch(object, isKnown);
    if (!patch) continue;
    await api.mergePatch(workflows, object.metadata, patch, {}, signal);
    kept += 1;
  }
  return kept;
}
