import type { Logger } from 'pino';
import { type Clock, createWorkQueue, DelayQueue, systemClock } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import { type Key, type KubeClient, listWatch } from '#shared/kubernetes/client';
import { type Workflow, workflows } from '../executor/workflow.ts';
import { type CronWorkflow, type CronWorkflowStatus, cronWorkflows } from './cron-workflow.ts';
import { decideCron } from './decide.ts';

export interface CronControllerOptions {
  /** Uses the executor's own identity. */
  api: KubeClient;
  signal: AbortSignal;
  log: Logger;
  clock?: Clock;
}

const workers = 4;
const nameLabel = 'workflows.argoproj.io/cron-workflow';

/**
 * Starts Workflows from CronWorkflows, as Argo's controller does. Keeps no state outside the API: the last scheduled time and the active
 * runs are in the status of the CronWorkflow. `done` ends with the signal.
 */
export function startCronController(options: CronControllerOptions): { done: Promise<void> } {
  const { api, signal, log, clock = systemClock } = options;
  /** The last scheduled time that was decided on, by uid of the CronWorkflow. */
  const considered = new Map<string, Date>();
  const queue = createWorkQueue((key) => process(key), {
    workers,
    signal,
    onFailure: (key, caught) => {
      const level = ArcError.is(caught, 'Conflict', 'NotFound') ? 'debug' : 'warn';
      log[level](
        { err: caught, cronWorkflow: key },
        'a CronWorkflow could not be processed: it is tried again',
      );
    },
  });
  const due = new DelayQueue<undefined>(clock, (key) => queue.add(key));
  const listed = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => ended.resolve(), { once: true });
  const ready = Promise.race([listed.promise, ended.promise]);
  const failed = (error: ArcError) =>
    log.warn({ err: error }, 'CronWorkflows or their runs cannot be watched: it is tried again');

  const crons = listWatch<CronWorkflow>(
    api,
    cronWorkflows,
    {
      onChange({ before, after }) {
        queue.add(keyOf(after ?? before));
        if (after === undefined) considered.delete(before.metadata.uid ?? '');
      },
      onFailure: failed,
    },
    { signal },
  );
  const runs = listWatch<Workflow>(
    api,
    workflows,
    {
      labelSelector: nameLabel,
      onChange({ before, after }) {
        const run = after ?? before;
        queue.add(`${run.metadata.namespace}/${run.metadata.labels?.[nameLabel]}`);
      },
      onSync: () => listed.resolve(),
      onFailure: failed,
    },
    { signal },
  );

  async function process(key: string): Promise<void> {
    const [namespace = '', name = ''] = key.split('/');
    // Before the first list an active run could be overlooked.
    await ready;
    if (signal.aborted) return;
    const cron = await api.get(cronWorkflows, { namespace, name }, signal);
    if (cron === undefined) {
      due.delete(key);
      return;
    }
    const { uid = '' } = cron.metadata;
    const own = [...runs.known.values()].filter(
      ({ metadata }) => metadata.namespace === namespace && metadata.labels?.[nameLabel] === name,
    );
    const decision = decideCron(cron, own, new Date(clock.now()), considered.get(uid));
    if (decision.problem) log.warn({ err: decision.problem, cronWorkflow: key }, 'a run does not take place');
    for (const run of decision.replace)
      await api.mergePatch(workflows, run.metadata, { spec: { shutdown: 'Terminate' } }, {}, signal);
    if (decision.start) await start(decision.start);
    if (decision.status) await writeStatus(cron, decision.status);
    if (decision.considered) considered.set(uid, decision.considered);
    for (const run of decision.remove) await api.delete(workflows, run.metadata, {}, signal);
    if (decision.next === undefined) due.delete(key);
    else due.set(key, decision.next, undefined);
  }

  async function start(run: Workflow): Promise<void> {
    try {
      await api.create(workflows, run, signal);
    } catch (caught) {
      // This process created the run and was killed before it wrote the status.
      if (!ArcError.is(caught, 'AlreadyExists')) throw caught;
    }
  }

  async function writeStatus({ metadata }: CronWorkflow, status: CronWorkflowStatus): Promise<void> {
    const { resourceVersion } = metadata;
    await api.mergePatch(cronWorkflows, metadata, { metadata: { resourceVersion }, status }, {}, signal);
  }

  signal.addEventListener('abort', () => due.close(), { once: true });
  return { done: Promise.all([crons.done, runs.done, queue.done]).then(() => undefined) };
}

function keyOf({ metadata }: KubeObject): string {
  const { namespace = '', name }: Key = metadata;
  return `${namespace}/${name}`;
}
