import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { isSea } from 'node:sea';
import type { Logger } from 'pino';

const source = path.resolve(import.meta.dirname, '../../functions/transfer-worker/main.ts');

const images = 'artifact-conduit:*';

/**
 * Node options of the worker, as in the workflow templates. A copy produces short-lived chunks, whose off-heap memory is freed only when V8
 * collects its nursery; a nursery of 1 MiB saves 50 MiB and 15 % of the CPU time of a large copy.
 */
export const workerOptions: readonly string[] = ['--max-semi-space-size=1'];

/**
 * Adds the transfer-worker's images to `given`, unless they are given. Worker processes start often, so the worker is first bundled into one
 * file in `folder`, where its compiled code is also cached; this halves the CPU time of a start. Without the bundler it runs from source. The
 * single executable contains the worker. `prepared` is its command if it is our own: it can be started ahead and reused for several runs.
 */
export async function withWorker(
  given: Readonly<Record<string, string[]>>,
  folder: string,
  log: Logger,
): Promise<{ programs: Readonly<Record<string, string[]>>; prepared?: string[] }> {
  if (images in given) return { programs: given };
  if (isSea())
    return withPrepared(given, ['ARC_PROGRAM=transfer-worker', `NODE_OPTIONS=${workerOptions.join(' ')}`]);
  const main = await bundled(folder).catch((caught: unknown) => {
    log.warn({ err: caught }, 'cannot bundle the transfer-worker: it runs from source');
    return source;
  });
  return withPrepared(given, [`NODE_COMPILE_CACHE=${folder}`], [...workerOptions, main]);
}

/** Returns the command that runs this program with another environment. */
function withPrepared(
  given: Readonly<Record<string, string[]>>,
  variables: readonly string[],
  args: readonly string[] = [],
): { programs: Readonly<Record<string, string[]>>; prepared: string[] } {
  const prepared = ['/usr/bin/env', ...variables, process.execPath, ...args];
  return { programs: { ...given, [images]: prepared }, prepared };
}

async function bundled(folder: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const outfile = path.join(folder, 'transfer-worker.mjs');
  // Loaded lazily, and its process ended afterwards, to keep the standalone small.
  const { buildSync, stop } = await import('esbuild');
  try {
    buildSync({
      entryPoints: [source],
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node24',
      minify: true,
      keepNames: true,
      // The tar reader is CommonJS and calls require, which an ESM bundle lacks.
      banner: {
        js: "const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);",
      },
      logLevel: 'silent',
    });
  } finally {
    await stop();
  }
  return outfile;
}
