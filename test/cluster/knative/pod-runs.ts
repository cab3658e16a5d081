import { type Program, start } from '../../fixtures/program.ts';
import { lines } from './kubectl.ts';

/** When the main container of a pod ran, by the clock of the one node. */
export interface Run {
  started: string;
  /** Absent while it runs. */
  finished?: string;
}

const none = '<none>';
const state = 'status.containerStatuses[?(@.name=="main")].state';
const columns = [
  'NAME:.metadata.name',
  `STARTED:.${state}.terminated.startedAt`,
  `FINISHED:.${state}.terminated.finishedAt`,
  `RUNNING:.${state}.running.startedAt`,
].join(',');

/** Watches the pods of a namespace; `podRuns` reads what it prints. */
export function watchPods(namespace: string): Program {
  return start('kubectl', [
    ...['-n', namespace, 'get', 'pods', '-w', '--no-headers', '-o', `custom-columns=${columns}`],
  ]);
}

/** When the pods of an Order ran, in the order of their starts, by the output of `watchPods`. */
export function podRuns(text: string, order: string): Map<string, Run> {
  const runs = new Map<string, Run>();
  for (const line of text.split('\n')) {
    const [name = '', ended = none, finished = none, running = none] = line.trim().split(/\s+/);
    if (!name.startsWith(`${order}-`)) continue;
    const started = [ended, running].find((time) => time !== none);
    if (started === undefined) continue;
    const seen = finished === none ? runs.get(name)?.finished : finished;
    runs.set(name, { started, ...(seen === undefined ? {} : { finished: seen }) });
  }
  return runs;
}

/** Names of the pods of an Order whose main container runs. */
export async function runningNow(namespace: string, order: string): Promise<string[]> {
  const found = await lines(
    '-n',
    namespace,
    'get',
    'pods',
    '--no-headers',
    '-o',
    `custom-columns=${columns}`,
  );
  return found
    .map((line) => line.trim().split(/\s+/))
    .filter(([name = '', , , running = none]) => name.startsWith(`${order}-`) && running !== none)
    .map(([name = '']) => name);
}

/** How many of them ran at once at most; one that starts in the second in which another ends does not count beside it. */
export function mostAtOnce(runs: readonly Run[]): number {
  const started = runs.map((run) => Date.parse(run.started));
  const others = (time: number) =>
    runs.filter(
      (run) =>
        Date.parse(run.started) <= time && (run.finished === undefined || Date.parse(run.finished) > time),
    ).length;
  return Math.max(0, ...started.map(others));
}
