import { printable } from '#shared/base/errors';
import { mayTakeAnother } from './another.ts';
import { exitWithParent } from './exit-with-parent.ts';
import { isQuiet, openResources } from './quiet.ts';
import { type Run, readRuns } from './runs.ts';

/** What does one run, as `runWorker` does; resolves with its exit code. */
export type RunProgram = (run: {
  env: Readonly<Record<string, string | undefined>>;
  stop: AbortSignal;
  print: (line: string) => void;
  warn: (line: string) => void;
}) => Promise<number>;

/** As shells count SIGTERM. */
const signalExitCode = 143;

/**
 * Runs `program` once for each run that stdin announces, one after the other, each with the environment and folder that a process of its
 * own would have. The end of a run is a line on stdout and stderr that begins with NUL and the run's mark, after all that the run has printed. A run
 * after which there is to be no other one ends the process, with the exit code of the run.
 */
export async function takeRuns(program: RunProgram): Promise<never> {
  const runs = readRuns(process.stdin);
  // They are opened when they are first asked for, and so by no run.
  const streams = [process.stdout, process.stderr];
  let stop: AbortController | undefined;
  // Not with 0: a run that it is just being told of would pass for done.
  for (const name of ['SIGTERM', 'SIGINT'] as const)
    process.on(name, () => (stop === undefined ? process.exit(signalExitCode) : stop.abort(name)));
  exitWithParent(process.stdin, () => process.exit(stop === undefined ? 0 : 1));

  for (let count = 1; ; count += 1) {
    const run = await runs.next();
    if (run === undefined) process.exit(0);
    stop = new AbortController();
    const open = openResources();
    const code = await work(program, run, stop.signal);
    const rss = process.memoryUsage.rss();
    if (run.mark === undefined || !mayTakeAnother({ code, count, rss, stopped: stop.signal.aborted }))
      process.exit(code);
    // Whatever it has left behind ends now, or with the process.
    stop.abort();
    if (!(await isQuiet(open))) process.exit(code);
    stop = undefined;
    become({ env: {}, cwd: '/' });
    for (const stream of streams) stream.write(`\0${run.mark} ${code}\n`);
  }
}

/** One run; what it has left behind prints nothing once it has ended. */
async function work(program: RunProgram, run: Run, stop: AbortSignal): Promise<number> {
  become(run);
  let isOver = false;
  const code = await program({
    env: run.env,
    stop,
    print: (line) => isOver || process.stdout.write(`${line}\n`),
    warn: (line) => isOver || process.stderr.write(`${printable(line)}\n`),
  });
  isOver = true;
  return code;
}

function become({ env, cwd }: Run): void {
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, env);
  process.chdir(cwd);
}
