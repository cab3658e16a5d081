import { printable } from '#shared/base/errors';
import { exitWithParent } from './prepared/exit-with-parent.ts';
import { takeRuns } from './prepared/take-runs.ts';
import { runWorker } from './worker.ts';

// On a cluster the process starts once per artifact, so only the code for a copy is imported.
if (process.env.ARC_PREPARED) await takeRuns(runWorker);
const stop = new AbortController();
for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stop.abort(name));
if (process.env.ARC_EXIT_WITH_PARENT) exitWithParent(process.stdin, () => process.exit(1));

const code = await runWorker({
  env: process.env,
  stop: stop.signal,
  print: (line) => process.stdout.write(`${line}\n`),
  warn: (line) => process.stderr.write(`${printable(line)}\n`),
});
// An open stdin would keep the process alive. Writes to stdout are synchronous for a pipe or a file, so nothing is lost.
process.exit(code);
