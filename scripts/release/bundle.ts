import path from 'node:path';
import { layoutSource, loadBundles } from '#shared/transfer';
import type { ReleaseContext } from './context.ts';

/** Writes the image with its signatures into a bundle for `arc-transfer import` across an air gap. */
export async function releaseBundle(context: ReleaseContext, layout: string): Promise<void> {
  const { folder, workFolder, version, time, image, key, signal } = context;
  const tag = `v${version}`;
  const { exportBundle } = await loadBundles();
  const item = {
    asked: `${image}:${tag}`,
    open: async () => ({
      source: layoutSource({ folder: layout, tag }),
      name: { repository: 'artifact-conduit', tag },
    }),
  };
  await exportBundle([item], {
    file: path.join(folder, `artifact-conduit-${version}-bundle.tar`),
    now: new Date(time * 1000),
    workDir: path.join(workFolder, 'bundle'),
    signal,
    ...(key && { signKey: key }),
  });
}
