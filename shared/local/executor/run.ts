import { rm } from 'node:fs/promises';
import path from 'node:path';
import { createBackoff, pause } from '#shared/base/async';
import { isoSeconds } from '#shared/base/meta';
import { isCompleted } from '#shared/domain';
import type { Key } from '#shared/kubernetes/client';
import { type AttemptResult, runAttempt, type StopReason, stopped } from './attempt.ts';
import { type Plan, type Planned, planWorkflow } from './plan.ts';
import { createPod, type PodOptions, removeLeftPods } from './pod.ts';
import type { Workers } from './processes/workers.ts';
import type { Programs } from './programs.ts';
import { readIfThere } from './run-folder.ts';
import {
  type Attempt,
  finishedPatch,
  nodeIdOf,
  nodesOf,
  progressOf,
  refusedPatch,
  startedPatch,
} from './status.ts';
import { clusterWorkflowTemplates, type Workflow, workflows, workflowTemplates } from './workflow.ts';
import { writeUntilDone } from './write.ts';

export interface RunOptions extends PodOptions {
  programs: Programs;
  workers: Workers | undefined;
  workFolder: string;
  /** The folder of claimed volumes. */
  claims: string;
  graceMs: number;
  /** Minimum interval between looks at the progress, which is written if it changed. */
  progressMs: number;
  env: Readonly<Record<string, string | undefined>>;
  now: () => Date;
  /** Ends the executor: programs are stopped and nothing more is written. */
  signal: AbortSignal;
}

/**
 * Takes one Workflow from its current state to its end. `control` stops it, with a StopReason. Returns early if there is
 * nothing to do (gone, another uid, completed, suspended, being deleted). Rejects with errors of reads; writes are
 * retried until the Workflow is gone.
 */
export async function runWorkflow(
  key: Key,
  uid: string,
  control: AbortController,
  options: RunOptions,
): Promise<void> {
  const { api, signal } = options;
  const workflow = await api.get(workflows, key, signal);
  if (workflow?.metadata.uid !== uid || workflow.metadata.deletionTimestamp !== undefined) return;
  if (isCompleted(workflow.status?.phase)) return;
  const now = () => isoSeconds(options.now());
  if (workflow.status?.startedAt !== undefined) await removeLeftPods(workflow, options);
  const { shutdown } = workflow.spec;
  if (shutdown) {
    const message = `Stopped with strategy '${shutdown}'`;
    return write(key, refusedPatch(workflow, 'Failed', message, now()), options);
  }
  if (workflow.spec.suspend === true) return;
  const planned = await plan(workflow, options);
  if (!planned.ok) return write(key, refusedPatch(workflow, planned.phase, planned.message, now()), options);

  await write(key, startedPatch(workflow, now()), options);
  const deadline = deadlineOf(planned.plan, workflow, options.now());
  const timer =
    deadline === undefined ? undefined : setTimeout(() => control.abort({ why: 'deadline' }), deadline);
  try {
    await runAttempts(key, workflow, planned.plan, control, options);
  } finally {
    clearTimeout(timer);
  }
}

/** Returns the milliseconds left of activeDeadlineSeconds, counted from the first start. */
function deadlineOf(plan: Plan, workflow: Workflow, now: Date): number | undefined {
  if (plan.deadlineSeconds === undefined) return undefined;
  const started = workflow.status?.startedAt ? Date.parse(workflow.status.startedAt) : now.getTime();
  return Math.min(2 ** 31 - 1, Math.max(0, started + plan.deadlineSeconds * 1000 - now.getTime()));
}

async function plan(workflow: Workflow, { api, signal }: RunOptions): Promise<Planned> {
  const ref = workflow.spec.workflowTemplateRef;
  if (!ref) return planWorkflow(workflow, undefined);
  const kind = ref.clusterScope === true ? clusterWorkflowTemplates : workflowTemplates;
  const { namespace } = workflow.metadata;
  const scope = kind.namespaced && namespace !== undefined ? { namespace } : {};
  const template = await api.get(kind, { name: ref.name, ...scope }, signal);
  if (template) return planWorkflow(workflow, template.spec);
  return { ok: false, phase: 'Error', message: `${kind.plural}.argoproj.io "${ref.name}" not found` };
}

async function runAttempts(
  key: Key,
  workflow: Workflow,
  todo: Plan,
  control: AbortController,
  options: RunOptions,
): Promise<void> {
  const { api, programs, workers, workFolder, claims, graceMs, env } = options;
  const { uid = '', namespace = '' } = workflow.metadata;
  const attempts: Attempt[] = [];
  let result: AttemptResult;
  const backoff = createBackoff({ baseMs: 100, random: Math.random });
  let progress = progressOf(workflow.status?.progress) ?? '0/1';
  do {
    if (attempts.length > 0) await pause(backoff.next(), control.signal);
    const attempt: Attempt = { startedAt: isoSeconds(options.now()) };
    attempts.push(attempt);
    const folder = path.join(workFolder, `${uid}.${attempts.length - 1}`);
    const nodeId = nodeIdOf(workflow.metadata.name, attempts.length - 1, todo.retry !== undefined);
    const pod = createPod(workflow, todo, nodeId, attempt, options);
    const watching = new AbortController();
    const report = async (text: string) => {
      progress = text;
      attempt.progress = text;
      const nodes = nodesOf(workflow, todo.templateName, attempts, todo.retry !== undefined);
      await api.mergePatch(
        workflows,
        key,
        { metadata: { uid }, status: { progress: text, nodes } },
        undefined,
        options.signal,
      );
    };
    let watch: Promise<void> | undefined;
    result = await runAttempt(todo, {
      api,
      programs,
      workers,
      folder,
      claims,
      namespace,
      graceMs,
      env,
      logs: pod.logs,
      signal: control.signal,
      onProgressFile(file) {
        watch = watchProgress(file, report, watching.signal, options);
      },
    });
    watching.abort();
    await watch;
    if (result.phase === 'Succeeded')
      progress = completedProgress(
        progressOf(await readIfThere(path.join(folder, 'progress'), 64)) ?? progress,
      );
    Object.assign(attempt, { finishedAt: isoSeconds(options.now()), result, progress });
    await rm(folder, { recursive: true, force: true });
    await pod.end(isWithdrawn(control.signal));
  } while (!control.signal.aborted && mayRetry(todo, result, attempts.length));

  const reason = control.signal.aborted ? (control.signal.reason as StopReason) : undefined;
  // Left as it is: deleted, or run again by the next executor.
  if (reason?.why === 'deleted' || reason?.why === 'executor ends') return;
  // The program may have ended by itself just before the signal, which Argo reports as a success.
  const final = reason && result.phase !== 'Succeeded' ? stopped(reason) : result;
  const message =
    reason?.why === 'shutdown' && final.phase !== 'Succeeded'
      ? `Stopped with strategy '${reason.strategy}'`
      : undefined;
  const nodes = nodesOf(workflow, todo.templateName, attempts, todo.retry !== undefined);
  const end = {
    result: final,
    nodes,
    progress,
    now: isoSeconds(options.now()),
    ...(message !== undefined && { message }),
  };
  await write(key, finishedPatch(workflow, end), options);
}

/** True for a run that was stopped on purpose, or whose Workflow is gone: nobody needs its pod. */
function isWithdrawn(signal: AbortSignal): boolean {
  return signal.aborted && (signal.reason as StopReason).why !== 'deadline';
}

function mayRetry({ retry }: Plan, { phase }: AttemptResult, made: number): boolean {
  return retry?.phases.includes(phase) === true && made <= retry.limit;
}

function completedProgress(progress: string): string {
  const total = progress.slice(progress.indexOf('/') + 1);
  return `${total}/${total}`;
}

async function watchProgress(
  file: string,
  report: (progress: string) => Promise<void>,
  signal: AbortSignal,
  options: RunOptions,
): Promise<void> {
  let last: string | undefined;
  while (!signal.aborted) {
    await pause(options.progressMs, signal);
    if (signal.aborted) return;
    const progress = progressOf(await readIfThere(file, 64));
    if (progress === undefined || progress === last) continue;
    last = progress;
    try {
      await report(progress);
    } catch (caught) {
      // Later progress supersedes this one, and the end does not depend on it.
      options.log.debug({ err: caught }, 'progress could not be written');
    }
  }
}

async function write(key: Key, patch: object, options: RunOptions): Promise<void> {
  const { api, signal } = options;
  await writeUntilDone(key, () => api.mergePatch(workflows, key, patch, undefined, signal), options);
}
