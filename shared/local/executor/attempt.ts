import { createBackoff, pause } from '#shared/base/async';
import { ArcError, maskSecrets, shortageIn } from '#shared/base/errors';
import type { KubeClient } from '#shared/kubernetes/client';
import type { PodLogs } from '../kinds/live-logs.ts';
import type { Plan, PlannedContainer } from './plan.ts';
import { runChild } from './processes/child.ts';
import type { Workers } from './processes/workers.ts';
import { type Programs, programFor } from './programs.ts';
import {
  environmentOf,
  localPath,
  makeRunFolder,
  type RunFolder,
  readIfThere,
  terminationLog,
} from './run-folder.ts';
import type { Parameter } from './workflow.ts';

/** Why a run is being stopped; the reason of its AbortSignal. */
export type StopReason =
  | { why: 'shutdown'; strategy: string }
  | { why: 'deadline' }
  | { why: 'attempt deadline' }
  | { why: 'deleted' }
  | { why: 'executor ends' };

export interface AttemptResult {
  phase: 'Succeeded' | 'Failed' | 'Error';
  message?: string;
  exitCode?: string;
  outputs: Parameter[];
  /** The end of the last container's output, its Secrets masked. */
  log?: { container: string; text: string };
}

export interface AttemptOptions {
  api: KubeClient;
  programs: Programs;
  workers: Workers | undefined;
  /** Created by this attempt; must not exist. */
  folder: string;
  claims: string;
  namespace: string;
  /** Receives the containers' output while they run. */
  logs: PodLogs;
  /** Its reason is a StopReason. */
  signal: AbortSignal;
  graceMs: number;
  env: Readonly<Record<string, string | undefined>>;
  /** Receives the path to which the program writes its progress. */
  onProgressFile(file: string): void;
}

/** How long a program waits for resources of this machine. */
const longestShortageMs = 5 * 60_000;
/** Maximum size of an output parameter and of a termination message, as in Argo and the kubelet. */
const outputLimit = 256 * 1024;
const terminationLimit = 4096;
/** Limits on the end of a log as a termination message, as in the kubelet: lines and characters. */
const fallbackLimits = [80, 2048] as const;

/** Runs the containers of a plan once, in sequence. Never rejects: a failure to run is an Error. */
export async function runAttempt(plan: Plan, options: AttemptOptions): Promise<AttemptResult> {
  const deadline = new AbortController();
  const end = () => deadline.abort(options.signal.reason);
  options.signal.addEventListener('abort', end, { once: true });
  if (options.signal.aborted) end();
  const reason: StopReason = { why: 'attempt deadline' };
  const timer =
    plan.attemptSeconds === undefined
      ? undefined
      : setTimeout(() => deadline.abort(reason), plan.attemptSeconds * 1000);
  try {
    return await runContainers(plan, { ...options, signal: deadline.signal });
  } catch (caught) {
    if (deadline.signal.aborted) return stopped(deadline.signal.reason as StopReason);
    return { phase: 'Error', message: ArcError.from(caught).message, outputs: [] };
  } finally {
    clearTimeout(timer);
    options.signal.removeEventListener('abort', end);
  }
}

async function runContainers(plan: Plan, options: AttemptOptions): Promise<AttemptResult> {
  const { signal } = options;
  const { folder, claims, namespace, api } = options;
  const run = await whileShort(signal, () => makeRunFolder(folder, claims, plan, namespace, api, signal));
  options.onProgressFile(run.progressFile);
  let last: PlannedContainer | undefined;
  let log: AttemptResult['log'];
  for (const container of plan.containers) {
    if (signal.aborted) return stopped(signal.reason as StopReason);
    const program = programFor(container.image, options.programs);
    if (program === undefined) return unmapped(container);
    const env = environmentOf(run, container, options.env);
    const live = options.logs.of(container.name);
    // A step among several gets a process of its own: its memory must not be shared with the others.
    const isAlone = plan.containers.length === 1 && container.args.length === 0;
    const result = await whileShort(signal, async () =>
      runChild({
        command: [...program, ...container.args],
        worker: isAlone ? options.workers?.take(program, env) : undefined,
        cwd: run.path,
        env,
        record: run.path,
        live: () => live.input(run.secrets),
        signal,
        graceMs: options.graceMs,
      }),
    );
    last = container;
    live.end();
    log = { container: container.name, text: maskSecrets(result.tail, run.secrets) };
    if (signal.aborted) return { ...stopped(signal.reason as StopReason), log };
    if (result.exitCode !== 0) {
      const said =
        (await whileShort(signal, () => readIfThere(terminationLog(run, container), terminationLimit))) ||
        fallback(container, log.text);
      const message = failureText(container.name, result.exitCode, maskSecrets(said, run.secrets));
      const { outputs } = await whileShort(signal, () => collectOutputs(plan, run, container));
      return { phase: 'Failed', message, exitCode: String(result.exitCode), outputs, log };
    }
  }
  const main = plan.containers.find((one) => one.name === 'main') ?? last;
  const { outputs, missing } = main
    ? await whileShort(signal, () => collectOutputs(plan, run, main))
    : { outputs: [], missing: undefined };
  if (missing !== undefined) return { phase: 'Error', message: missing, exitCode: '0', outputs };
  return { phase: 'Succeeded', exitCode: '0', outputs, ...(log && { log }) };
}

/**
 * Retries operations that fail because this machine lacks file descriptors, processes or space, as a kubelet keeps trying to start a
 * container. No program runs twice: such a failure happens only before the program starts, or after its end.
 */
async function whileShort<T>(signal: AbortSignal, operation: () => Promise<T>): Promise<T> {
  const backoff = createBackoff({ baseMs: 100, maxMs: 10_000, random: Math.random });
  const giveUpAt = performance.now() + longestShortageMs;
  for (;;) {
    try {
      return await operation();
    } catch (caught) {
      if (shortageIn(caught) === undefined || signal.aborted || performance.now() > giveUpAt) throw caught;
      await pause(backoff.next(), signal);
    }
  }
}

function fallback({ terminationMessagePolicy }: PlannedContainer, log: string): string {
  if (terminationMessagePolicy !== 'FallbackToLogsOnError') return '';
  const [lines, characters] = fallbackLimits;
  return log.split('\n').slice(-lines).join('\n').slice(-characters);
}

function unmapped({ image, name }: PlannedContainer): AttemptResult {
  const message = `${name}: the image "${image}" is mapped to no program: the standalone runs programs of this machine, not images`;
  return { phase: 'Error', message, outputs: [] };
}

function failureText(name: string, exitCode: number, said: string): string {
  const text = said.trim();
  return `${name}: Error (exit code ${exitCode})${text === '' ? '' : `: ${text}`}`;
}

/** Returns the message of a stopped run in Argo's words. */
export function stopped(reason: StopReason): AttemptResult {
  if (reason.why === 'shutdown') {
    return { phase: 'Failed', message: `workflow shutdown with strategy:  ${reason.strategy}`, outputs: [] };
  }
  const late =
    reason.why === 'deadline'
      ? 'Step exceeded its deadline'
      : 'Pod was active on the node longer than the specified deadline';
  const ended = reason.why === 'deleted' || reason.why === 'executor ends';
  return { phase: ended ? 'Error' : 'Failed', message: ended ? `stopped: ${reason.why}` : late, outputs: [] };
}

async function collectOutputs(
  plan: Plan,
  run: RunFolder,
  container: PlannedContainer,
): Promise<{ outputs: Parameter[]; missing: string | undefined }> {
  const outputs: Parameter[] = [];
  let missing: string | undefined;
  for (const parameter of plan.outputs) {
    const wanted = parameter.valueFrom?.path;
    const file = wanted === undefined ? undefined : localPath(run, container, wanted);
    const found = file === undefined ? undefined : await readIfThere(file, outputLimit);
    const value = found?.replace(/\n$/, '') ?? parameter.valueFrom?.default ?? parameter.value;
    if (value === undefined || value === null)
      missing ??= `output parameter "${parameter.name}": ${wanted} is not there`;
    else outputs.push({ ...parameter, value });
  }
  return { outputs, missing };
}
