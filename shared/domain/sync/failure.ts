import type { Workflow, WorkflowNode } from '../kinds/argo.ts';
import { longestFailure, mostFailedSteps } from '../values/limits.ts';
import { maskCredentials } from '../values/mask.ts';
import { cut } from '../values/text.ts';

/** The end of the log of the failed step. */
export interface LogTail {
  namespace: string;
  pod: string;
  /** The last lines; undefined if they may not be quoted. */
  text?: string;
}

/** 128 + SIGKILL, and the kubelet's reason for its most common cause. */
const killedCode = /exit code 137\b|OOMKilled/;
/** Argo's message for a failed container that left no other message. */
const bareExitCode = /^([\w-]+: )?Error \(exit code \d+\)$/;
const killedText =
  'the worker was killed before it could say why: its container may have run out of memory (raise the limit in the workflow template) or been evicted or stopped by hand; spec.retry or the annotation arc.opendefense.cloud/retry-at of the Order runs it again';

/** Argo's message for a container: its exit code, then its termination message or log as reported by the kubelet. */
const quotedLog = /^([^\n]{0,200}\(exit code \d+\)): ([\s\S]+)$/;

/**
 * Returns why a Workflow failed, for the person who has to act: first the worker's own message, then the messages of the Workflow and of the
 * failed nodes, which contain exit codes and termination messages, then on lines of their own the end of the log.
 */
export function failureMessage(workflow: Workflow, reported: string | undefined, tail?: LogTail): string {
  return withTail(causeOf(workflow, reported, tail), tail);
}

function causeOf(workflow: Workflow, reported: string | undefined, tail: LogTail | undefined): string {
  const parts: string[] = [];
  const said: string[] = [];
  const add = (text: string | undefined, where = '') => {
    const added = newIn(withoutLog(text?.trim() ?? '', tail), said);
    if (added === '') return;
    // The worker has given the reason; the exit code adds nothing.
    if (reported !== undefined && bareExitCode.test(added)) return;
    said.push(added);
    parts.push(where + added);
  };
  add(reported);
  add(withoutCredentials(workflow.status?.message));
  for (const { message, displayName } of failedNodes(workflow))
    add(withoutCredentials(message), displayName ? `step ${displayName}: ` : '');
  const killed = reported === undefined && parts.some((part) => killedCode.test(part));
  if (killed) parts.unshift(killedText);
  return cut(parts.join('; '), longestFailure);
}

/** Masks a message of Argo, which may quote the log of any program. Text beyond the limit is cut before. */
function withoutCredentials(message = ''): string {
  return maskCredentials(message.slice(0, 2 * longestFailure));
}

/** Removes the log that a message quotes, if the log itself follows. */
function withoutLog(text: string, tail: LogTail | undefined): string {
  const [, ended, log = ''] = quotedLog.exec(text) ?? [];
  return ended !== undefined && tail?.text?.endsWith(log.trim()) ? ended : text;
}

function withTail(cause: string, tail: LogTail | undefined): string {
  if (tail === undefined || tail.text === '') return cause;
  const { namespace, pod, text } = tail;
  if (text !== undefined) return `${cause}\nthe log of pod "${pod}" ends with:\n${text}`;
  const hint = `the step can read a Secret, so its log is not quoted here: kubectl logs -n ${namespace} ${pod} -c main`;
  return cause === '' ? hint : `${cause}; ${hint}`;
}

/** Returns what a text adds to the texts before: Argo repeats a node's message on the Workflow, and both quote the worker. */
function newIn(text: string, before: readonly string[]): string {
  let rest = text;
  for (const part of before)
    if (rest.endsWith(part)) rest = rest.slice(0, -part.length).replace(/[\s:;]+$/, '');
  return before.some((part) => part.endsWith(rest)) ? '' : rest;
}

/** Returns the failed pods, latest first. */
export function failedNodes({ status }: Workflow): WorkflowNode[] {
  const nodes = Object.values(status?.nodes ?? {});
  const failed = nodes.filter(
    ({ type, phase }) => type === 'Pod' && (phase === 'Failed' || phase === 'Error'),
  );
  // The latest failure is the cause; ties are broken by name, so that the text is stable.
  const time = (node: WorkflowNode) => node.finishedAt ?? '';
  return failed
    .sort((a, b) => order(time(b), time(a)) || order(a.name ?? '', b.name ?? ''))
    .slice(0, mostFailedSteps);
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
