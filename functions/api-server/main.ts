/** The API server as a program of its own, behind a kube-apiserver. */
import { readConfig } from '#shared/base/config';
import { ArcError } from '#shared/base/errors';
import { createLogger } from '#shared/base/telemetry';
import { lineOutput } from './line-output.ts';
import { runApiServer } from './program.ts';
import { settings } from './settings.ts';

async function main(): Promise<void> {
  const config = readConfig(settings, process.env);
  const output = lineOutput(process.stdout);
  const log = createLogger({ name: 'api-server', level: config.LOG_LEVEL, destination: output });
  const control = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => control.abort());
  await runApiServer({ settings: config, env: process.env, log, output, signal: control.signal });
}

main().catch((caught: unknown) => {
  const error = ArcError.from(caught);
  createLogger({ name: 'api-server' }).fatal({ err: error }, error.message);
  process.exitCode = 1;
});
