/** The API server as it runs in a cluster, which is asked over IPC how long its event loop was held up. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { readConfig } from '#shared/base/config';
import { createLogger } from '#shared/base/telemetry';
import { lineOutput } from '../../../functions/api-server/line-output.ts';
import { runApiServer } from '../../../functions/api-server/program.ts';
import { settings } from '../../../functions/api-server/settings.ts';

/** Of the time since it was last asked, in ms. */
export interface Stall {
  p99: number;
  max: number;
}

const delay = monitorEventLoopDelay({ resolution: 1 });
delay.enable();
process.on('message', () => {
  const stall: Stall = { p99: delay.percentile(99) / 1e6, max: delay.max / 1e6 };
  delay.reset();
  process.send?.(stall);
});
const control = new AbortController();
process.on('disconnect', () => control.abort());
const config = readConfig(settings, process.env);
const output = lineOutput(process.stdout);
const log = createLogger({ name: 'bench', level: config.LOG_LEVEL, destination: output });
await runApiServer({ settings: config, env: process.env, log, output, signal: control.signal });
process.exit(0);
