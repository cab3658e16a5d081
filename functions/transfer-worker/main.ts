import { printable } from '#shared/errors';
import { exitWithParent } from './parent.ts';
import { runWorker } from './worker.ts';

// Started once per artifact, so nothing is imported that a copy does not need.
const stop = new AbortController();
for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => stop.abort(name));
if (process.env.ARC_EXIT_WITH_PARENT) exitWithParent(process.stdin, () => process.exit(1));

const code = await runWorker({
  env: process.env,
  stop: stop.signal,
  print: (line) => process.stdout.write(`${line}\n`),
  warn: (line) => process.stderr.write(`${printable(line)}\n`),
});
// An open stdin would keep the process; stdout of a process is written synchronously where it is a pipe or a file.
process.exit(code);
