import { mkdir, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { imagesOf } from '../content/own-manifests.ts';
import { planCopy } from '../content/plan.ts';
import { marker, markerText } from './layout-files.ts';
import { indexOf } from './layout-index.ts';
import { layoutSource } from './layout-source.ts';

/**
 * Creates a layout for each image of an artifact in the layout `from`, as `0`, `1` and so on below `into`, with shared blobs. Scanners read only
 * one image of an index: the first, or that of their own platform. `into` must not exist.
 */
export async function splitLayout(
  from: { folder: string; digest: string },
  into: string,
  signal: AbortSignal,
): Promise<void> {
  const plan = await planCopy(layoutSource(from), signal);
  for (const [index, { descriptor }] of imagesOf(plan).entries()) {
    const folder = path.join(into, String(index));
    await mkdir(folder, { recursive: true });
    // Relative: a scanner mounts the volume at another path.
    await symlink(path.relative(folder, path.join(from.folder, 'blobs')), path.join(folder, 'blobs'));
    await writeFile(path.join(folder, 'index.json'), indexOf([descriptor]));
    await writeFile(path.join(folder, marker), markerText);
  }
}
