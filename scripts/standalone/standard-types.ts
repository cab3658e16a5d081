import path from 'node:path';
import { ArcError } from '#shared/base/errors';
import { clusterArtifactTypes, clusterWorkflowTemplates } from '#shared/domain';
import { objectPath, query, type Transport } from '#shared/kubernetes/client';
import { loadManifests } from '#shared/local';

const root = path.resolve(import.meta.dirname, '../..');
const folders = ['knative/workflow-templates', 'knative/base/artifact-types'];
const kinds = [clusterWorkflowTemplates, clusterArtifactTypes];

/**
 * Applies the ArtifactTypes and Workflow templates that ARC ships, by server-side apply without force: each start applies those of this
 * release and keeps user changes.
 * @returns one line with the reason for each object that was not changed
 */
export async function applyStandardTypes(api: Transport): Promise<string[]> {
  const kept: string[] = [];
  for (const manifest of (
    await Promise.all(folders.map((name) => loadManifests(path.join(root, name))))
  ).flat()) {
    const kind = kinds.find((one) => one.kind === manifest.kind);
    if (kind === undefined) continue;
    const { name } = manifest.metadata;
    try {
      await api.send({
        method: 'PATCH',
        path: `${objectPath(kind, { name })}${query({ fieldManager: 'arc-standalone' })}`,
        body: manifest,
        contentType: 'application/apply-patch+yaml',
      });
    } catch (caught) {
      if (!ArcError.is(caught, 'Conflict')) throw caught;
      kept.push(`${kind.kind} ${name} keeps your change: ${caught.message}`);
    }
  }
  return kept;
}
