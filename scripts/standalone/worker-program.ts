import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { isSea } from 'node:sea';
import type { Logger } from 'pino';

const source = path.resolve(import.meta.dirname, '../../functions/transfer-worker/main.ts');

const images = 'artifact-conduit:*';

/**
 * How Node runs the worker, as in the workflow templates. What a copy makes is chunks that are garbage a moment later; their memory lies outside
 * of the heap and is free when V8's nursery is collected, so a nursery of 1 MiB saves 50 MiB and 15 % of the CPU time of a large copy.
 */
export const workerOptions: readonly string[] = ['--max-semi-space-size=1'];

/**
 * `given`, with the transfer-worker's images among them, run by this very Node unless they are given. Processes of it come and go with the artifacts, so it is bundled into one file in
 * `folder` first, where its compiled code is kept as well: it starts with a good half of the CPU time that its sources take. Where the
 * bundler is not installed it runs from its sources. The single executable has the worker in it. `prepared` is its command, if it is ours: it can be started ahead, and does one run after the other.
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
    log.warn({ err: caught }, 'the transfer-worker could not be bundled: it runs from its sources');
    return source;
  });
  return withPrepared(given, [`NODE_COMPILE_CACHE=${folder}`], [...workerOptions, main]);
}

/** This program again, in a changed environment. */
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
  // Loaded when it is needed, and its process ended after that: the standalone is to stay small.
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
      // What reads archives is CommonJS and calls require, which an ESM bundle has not.
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
