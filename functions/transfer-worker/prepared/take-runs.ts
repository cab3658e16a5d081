import { printable } from '#shared/base/errors';
import { mayTakeAnother } from './another.ts';
import { exitWithParent } from './exit-with-parent.ts';
import { isQuiet, openResources } from './quiet.ts';
import { type Run, readRuns } from './runs.ts';

/** Does one run, like `runWorker`; resolves with its exit code. */
export type RunProgram = (run: {
  env: Readonly<Record<string, string | undefined>>;
  stop: AbortSignal;
  print: (line: string) => void;
  warn: (line: string) => void;
}) => Promise<number>;

/** 128 + SIGTERM, as in shells. */
const signalExitCode = 143;

/**
 * Runs `program` for each run announced on stdin, sequentially, each with its own environment and working directory. The end of a run is a line
 * on stdout and stderr that begins with NUL and the run's mark, after everything that the run has printed. The process exits with the code of the
 * last run if it is not to be reused.
 */
export async function takeRuns(program: RunProgram): Promise<never> {
  const runs = readRuns(process.stdin);
  // Created here, because the streams are opened on first access and must not count as resources of a run.
  const streams = [process.stdout, process.stderr];
  let stop: AbortController | undefined;
  // Not 0, which would report a run that was just announced as successful.
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
    // Ends whatever the run has left behind; otherwise the process exits.
    stop.abort();
    if (!(await isQuiet(open))) process.exit(code);
    stop = undefined;
    become({ env: {}, cwd: '/' });
    for (const stream of streams) stream.write(`\0${run.mark} ${code}\n`);
  }
}

/** Does one run; anything it has left behind prints nothing after its end. */
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
