/**
 * The API server as a program of its own, behind a kube-apiserver; with the argument `backup` or `restore`, and then `-` or the name of a
 * backup, it saves or replaces the content of its store and ends.
 */
import { readConfig } from '#shared/base/config';
import { ArcError } from '#shared/base/errors';
import { createLogger } from '#shared/base/telemetry';
import { load, save, saveTo, sourceOf, workflowsIn } from './backup/command.ts';
import { backupPlace } from './backup/place.ts';
import { lineOutput } from './line-output.ts';
import { openToRead, restoreStore } from './open-store.ts';
import { runApiServer } from './program.ts';
import { type Settings, settings } from './settings.ts';

async function main(): Promise<void> {
  const config = readConfig(settings, process.env);
  const [verb, name] = process.argv.slice(2);
  if (verb !== undefined) return keep(config, verb, name);
  const output = lineOutput(process.stdout);
  const log = createLogger({ name: 'api-server', level: config.LOG_LEVEL, destination: output });
  const control = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => control.abort());
  await runApiServer({ settings: config, env: process.env, log, output, signal: control.signal });
}

async function keep(config: Settings, verb: string, name: string | undefined): Promise<void> {
  // The standard output is for the backup.
  const log = createLogger({ name: 'api-server', level: config.LOG_LEVEL, destination: process.stderr });
  const control = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.once(signal, () => control.abort());
  const { signal } = control;
  const place = () => backupPlace(config, process.env, signal);
  if (verb === 'backup' && (name === undefined || name === '-')) {
    const kept = name === undefined ? place() : undefined;
    const store = await openToRead(config, { log, signal });
    if (kept) log.info({ backup: await save(store, kept, new Date()) }, 'saved');
    else await saveTo(store, process.stdout, new Date());
    control.abort();
    await store.close();
  } else if (verb === 'restore' && name !== undefined) {
    const backup = await load(sourceOf(name, place));
    log.info(
      { taken: backup.time, revision: backup.revision, objects: backup.items.length },
      'the backup is whole',
    );
    await restoreStore(config, backup, { log, signal });
    for (const workflow of workflowsIn(backup)) process.stdout.write(`${JSON.stringify(workflow)}\n`);
  } else throw new ArcError('Invalid', 'usage: api-server [backup [-] | restore <name>|-]');
}

main().catch((caught: unknown) => {
  const error = ArcError.from(caught);
  const destination = process.argv[2] === undefined ? process.stdout : process.stderr;
  createLogger({ name: 'api-server', destination }).fatal({ err: error }, error.message);
  process.exitCode = 1;
});
