/** The API server as a program of its own, behind a kube-apiserver. */
import { readConfig } from '#shared/config';
import { ArcError } from '#shared/errors';
import { createLogger } from '#shared/telemetry';
import { runApiServer } from './program.ts';
import { settings } from './settings.ts';

async function main(): Promise<void> {
  const config = readConfig(settings, process.env);
  const log = createLogger({ name: 'api-server', level: config.LOG_LEVEL });
  const control = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => control.abort());
  await runApiServer(config, process.env, log, control.signal);
}

main().catch((caught: unknown) => {
  const error = ArcError.from(caught);
  createLogger({ name: 'api-server' }).fatal({ err: error }, error.message);
  process.exitCode = 1;
});
