/** `npm start`: runs ARC in one process on loopback, until Ctrl-C. */
import module from 'node:module';
import path from 'node:path';
import { parseStartArguments, type StartOptions } from './standalone/arguments.ts';
import { failureText } from './standalone/failure-text.ts';
import { greeting } from './standalone/greeting.ts';
import type { OwnRegistries } from './standalone/own-registries.ts';
import type { Standalone } from './standalone/standalone.ts';
import { makeFolder } from './standalone/state-files.ts';

const options = parseStartArguments(process.argv.slice(2));
if ('help' in options) {
  console.log(options.help);
  process.exit(0);
}
if ('usage' in options) {
  console.error(options.usage);
  process.exit(2);
}
if (options.backup !== undefined) {
  const { backUpState } = await import('./standalone/backup.ts');
  console.log(await orFail('back up', backUpState(path.resolve(options.folder), options.backup)));
  process.exit(0);
}
const interrupt = new AbortController();
process.once('SIGINT', () => interrupt.abort());
process.once('SIGTERM', () => interrupt.abort());

const standalone = await orFail('start', start(options));
const registries = options.withRegistry ? await startRegistries(standalone, options.folder) : undefined;
const { startDashboard } = await import('./arcctl/console/server/serve.ts');
const { admin: api, transport, url: server } = standalone;
const { saveAccess, loadAccess } = await import('./standalone/dashboard-access.ts');
const { folder } = options;
const access = await loadAccess(folder);
const hint = (words: string) => `npm run -s arcctl -- ${words}`;
const dashboard = await startDashboard({ api, transport, server, hint }, { port: 0, access });
await saveAccess(folder, dashboard.access);
const { firstOrder } = registries ?? {};
console.log(greeting({ ...standalone, folder, dashboard: dashboard.url, firstOrder }, process.cwd()));
module.flushCompileCache(); // now, in case the process is killed with kill -9

if (!interrupt.signal.aborted)
  await new Promise((resolve) => interrupt.signal.addEventListener('abort', resolve, { once: true }));
await dashboard.close();
await standalone.close();
await registries?.close();
process.exit(0);

function orFail<T>(what: string, result: Promise<T>): Promise<T> {
  return result.catch((caught: unknown) => {
    console.error(`The standalone cannot ${what}: ${failureText(caught)}`);
    process.exit(1);
  });
}

/**
 * Starts the standalone with a compile cache, which halves the CPU time of the next start. `npm start` caches every file, so that the next
 * start does not load the type stripper either, which saves 25 MB of memory. Otherwise the cache is beside the state, for later imports.
 */
async function start({
  logLevel,
  recover,
  restore,
  withRegistry: _,
  ...rest
}: StartOptions): Promise<Standalone> {
  const compiled = path.join(rest.folder, 'compiled');
  await makeFolder(compiled);
  module.enableCompileCache(compiled);
  const { createLogger } = await import('#shared/base/telemetry');
  if (recover) {
    const { recoverState } = await import('./standalone/open-state.ts');
    console.error(await recoverState(path.resolve(rest.folder)));
  }
  if (restore !== undefined) {
    const { restoreState } = await import('./standalone/backup.ts');
    console.error(await restoreState(path.resolve(rest.folder), restore));
  }
  const { startStandalone } = await import('./standalone/standalone.ts');
  const { applyStandardTypes } = await import('./standalone/standard-types.ts');
  const standalone = await startStandalone({
    ...rest,
    log: createLogger({ name: 'standalone', level: logLevel }),
  });
  for (const kept of await applyStandardTypes(standalone.transport)) console.error(kept);
  return standalone;
}

async function startRegistries({ transport }: Standalone, folder: string): Promise<OwnRegistries> {
  const { startOwnRegistries } = await import('./standalone/own-registries.ts');
  return startOwnRegistries(transport, path.resolve(folder));
}
