import { stat } from 'node:fs/promises';
import path from 'node:path';
import { build } from 'esbuild';
import { type Bundle, functionSettings } from '../../../scripts/build/bundle.ts';

/** The bare server as one file in `folder`, made as functions are. */
export async function bundleBareHono(folder: string): Promise<Bundle> {
  const name = 'bare-hono';
  const file = path.join(folder, `${name}.mjs`);
  await build({
    ...functionSettings,
    entryPoints: [path.join(import.meta.dirname, 'server.ts')],
    outfile: file,
  });
  return { name, file, bytes: (await stat(file)).size, packages: [] };
}
