import os from 'node:os';
import type { Logger } from 'pino';
import { DelayQueue, FairQueue, type Owner, pause, systemClock } from '#shared/base/async';
import { isCompleted, labels } from '#shared/domain';
import { type Key, type KubeClient, listWatch } from '#shared/kubernetes/client';
import type { LiveLogs } from '../kinds/live-logs.ts';
import type { StopReason } from './attempt.ts';
import { createWorkers } from './processes/workers.ts';
import type { Programs } from './programs.ts';
import { recoverRuns } from './recover.ts';
import { runWorkflow } from './run.ts';
import { dueTime } from './ttl.ts';
import { type Workflow, workflows } from './workflow.ts';

export interface ExecutorOptions {
  /** Uses the executor's own identity. */
  api: KubeClient;
  /** The folder for the files of runs; nothing else may be in it. */
  workFolder: string;
  /** The folder for claimed volumes (persistentVolumeClaim): persistent. */
  claims: string;
  programs: Programs;
  /** Receives the output of programs while they run. */
  liveLogs: LiveLogs;
  /** The program among them whose processes are reused for several runs (`Workers`). */
  prepared?: readonly string[] | undefined;
  signal: AbortSignal;
  log: Logger;
  /** Concurrent Workflows (default: twice the processors, at least 4). Namespaces take turns, then their Orders. */
  parallelism?: number;
  /** Grace period between TERM and KILL (default 5 s). */
  graceMs?: number;
  /** Minimum interval between progress writes of a run (default 1 s). */
  progressMs?: number;
  /** Age from which a run is shown as a pod (default 300 ms). */
  podAfterMs?: number;
  /** The environment that programs inherit from (default process.env); only a few variables are passed on. */
  env?: Readonly<Record<string, string | undefined>>;
  now?: () => Date;
}

export interface Executor {
  /** Resolves when the signal is aborted and every program has ended. */
  done: Promise<void>;
}

/** The executor's record of a Workflow. */
interface Summary extends Key {
  uid: string;
  /** Decides whose turn it is to start. */
  owner: Owner;
  wanted: boolean;
  stop: StopReason | undefined;
  due: number | undefined;
}

const failureWaitMs = 2_000;

/**
 * Runs Workflows whose template is one pod of known programs, as child processes. Resolves once the processes that an earlier executor left
 * have ended; from then on it follows the Workflows of the API. Keeps no state outside the API: after a kill, the next executor runs
 * unfinished Workflows again.
 */
export async function startExecutor(options: ExecutorOptions): Promise<Executor> {
  const { api, signal, log } = options;
  const graceMs = options.graceMs ?? 5_000;
  await recoverRuns(options.workFolder, graceMs, log);
  const parallelism = options.parallelism ?? Math.max(4, 2 * os.availableParallelism());
  const env = options.env ?? process.env;
  const workers =
    options.prepared && createWorkers({ command: options.prepared, outer: env, most: parallelism });
  const waiting = new FairQueue<string, Summary>();
  const runOptions = {
    api,
    programs: options.programs,
    workers,
    workFolder: options.workFolder,
    claims: options.claims,
    graceMs,
    progressMs: options.progressMs ?? 1_000,
    liveLogs: options.liveLogs,
    podAfterMs: options.podAfterMs ?? 300,
    isBusy: () => waiting.size > 0,
    env,
    now: options.now ?? (() => new Date()),
    log,
    signal,
  };
  const known = new Map<string, Summary>();
  const running = new Map<string, { control: AbortController; done: Promise<void> }>();

  const attempt = async (summary: Summary, control: AbortController): Promise<void> => {
    let failed = false;
    try {
      await runWorkflow(keyOf(summary), summary.uid, control, runOptions);
    } catch (caught) {
      failed = !signal.aborted;
      const { name, namespace } = summary;
      if (failed)
        log.warn({ err: caught, name, namespace }, 'a Workflow could not be run: it is tried again');
    }
    // The slot is kept during the pause: more Workflows must not mean more requests to a failing API.
    if (failed) await pause(failureWaitMs, signal);
    running.delete(summary.uid);
    if (failed) consider(known.get(summary.uid));
    fill();
  };
  const start = (summary: Summary) => {
    const control = new AbortController();
    running.set(summary.uid, { control, done: attempt(summary, control) });
  };
  const fill = () => {
    while (!signal.aborted && running.size < parallelism) {
      const next = waiting.dequeue();
      if (next === undefined) return;
      start(next[1]);
    }
  };
  const consider = (summary: Summary | undefined) => {
    if (summary === undefined) return;
    const { uid, owner } = summary;
    const active = running.get(uid);
    if (active) {
      if (summary.stop) active.control.abort(summary.stop);
      return;
    }
    if (summary.wanted) workers?.warm();
    if (summary.wanted) waiting.enqueue(uid, owner, summary);
    else waiting.delete(uid);
    fill();
  };

  const remove = async (uid: string) => {
    const summary = known.get(uid);
    if (summary === undefined) return;
    try {
      await api.delete(workflows, keyOf(summary), { uid }, signal);
    } catch (caught) {
      if (signal.aborted) return;
      log.warn(
        { err: caught, name: summary.name },
        'a Workflow whose time is over could not be deleted: it is tried again',
      );
      expiring.set(uid, Date.now() + 10 * failureWaitMs, undefined);
    }
  };
  let removing = Promise.resolve();
  const expiring = new DelayQueue<undefined>(systemClock, (uid) => {
    // In sequence: many may expire together.
    removing = removing.then(() => remove(uid));
  });

  const forget = (summary: Summary) => {
    known.delete(summary.uid);
    expiring.delete(summary.uid);
    waiting.delete(summary.uid);
    running.get(summary.uid)?.control.abort({ why: 'deleted' } satisfies StopReason);
  };
  const loop = listWatch<Workflow, Summary>(
    api,
    workflows,
    {
      keep: summaryOf,
      onChange(change) {
        if (change.after === undefined) return forget(change.before);
        const summary = summaryOf(change.after);
        known.set(summary.uid, summary);
        if (summary.due !== undefined) expiring.set(summary.uid, summary.due, undefined);
        consider(summary);
      },
      onFailure: (error) => log.warn({ err: error }, 'the executor cannot watch Workflows: it tries again'),
    },
    { signal },
  );

  const end = async () => {
    await loop.done;
    expiring.close();
    for (const { control } of running.values()) control.abort({ why: 'executor ends' } satisfies StopReason);
    await workers?.close();
    while (running.size > 0) await Promise.allSettled([...running.values()].map((run) => run.done));
  };
  return { done: end() };
}

function summaryOf(workflow: Workflow): Summary {
  const { name, namespace, uid = '', deletionTimestamp } = workflow.metadata;
  const deleting = deletionTimestamp !== undefined;
  const completed = isCompleted(workflow.status?.phase);
  const { shutdown, suspend } = workflow.spec;
  return {
    name,
    ...(namespace !== undefined && { namespace }),
    uid,
    owner: { namespace: namespace ?? '', order: workflow.metadata.labels?.[labels.order] ?? name },
    wanted: !completed && !deleting && (suspend !== true || Boolean(shutdown)),
    stop: stopOf(deleting, shutdown),
    due: completed && !deleting ? dueTime(workflow.spec, workflow.status) : undefined,
  };
}

function stopOf(deleting: boolean, shutdown: string | undefined): StopReason | undefined {
  if (deleting) return { why: 'deleted' };
  return shutdown ? { why: 'shutdown', strategy: shutdown } : undefined;
}

function keyOf({ name, namespace }: Key): Key {
  return { name, ...(namespace !== undefined && { namespace }) };
}
