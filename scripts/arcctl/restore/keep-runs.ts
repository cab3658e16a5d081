import { orphanPatch, workflows } from '#shared/domain';
import type { Cluster } from '../core/session.ts';

export interface KnownOwner {
  namespace: string;
  name: string;
  uid: string;
}

/**
 * Keeps what ran for ArtifactWorkflows that the backup does not have from being collected: submit-workflow gives it to those that are made
 * anew. A name that the backup has with another uid is left alone: that run belongs to another version. CronWorkflows are made anew and
 * would go on without an owner for ever, so they are left alone, too.
 *
 * @returns how many were kept
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
