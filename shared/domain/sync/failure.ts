import type { Workflow, WorkflowNode } from '../kinds/argo.ts';
import { longestFailure, mostFailedSteps } from '../values/limits.ts';
import { maskCredentials } from '../values/mask.ts';
import { cut } from '../values/text.ts';

/** What there is of the log of the step that failed. */
export interface LogTail {
  namespace: string;
  pod: string;
  /** Its last lines; undefined where they may not be quoted. */
  text?: string;
}

/** 128 + SIGKILL, and the kubelet's reason for its most common cause. */
const killedCode = /exit code 137\b|OOMKilled/;
/** What Argo says of a container that ended badly, where there is nothing else to say. */
const bareExitCode = /^([\w-]+: )?Error \(exit code \d+\)$/;
const killedText =
  'the worker was killed before it could say why: its container may have run out of memory (raise the limit in the workflow template) or been evicted or stopped by hand; spec.retry or the annotation arc.opendefense.cloud/retry-at of the Order runs it again';

/** Argo's message for a container: how it ended, and what the kubelet has of its termination message or log. */
const quotedLog = /^([^\n]{0,200}\(exit code \d+\)): ([\s\S]+)$/;

/**
 * Why a Workflow failed, for the person who has to act: the worker's own message first, then the Workflow's message and
 * those of the failed nodes, which hold exit codes and termination messages, then on lines of its own the end of the log.
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
    // The worker has said why; its exit code says the same in a number.
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

/** A message of Argo's, which may quote the log of any program. What would be cut off is not looked at. */
function withoutCredentials(message = ''): string {
  return maskCredentials(message.slice(0, 2 * longestFailure));
}

/** A message without the log that it quotes, where more of the log follows. */
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

/** What a text adds to those before it: Argo repeats a node's message as the Workflow's, and both quote the worker. */
function newIn(text: string, before: readonly string[]): string {
  let rest = text;
  for (const part of before)
    if (rest.endsWith(part)) rest = rest.slice(0, -part.length).replace(/[\s:;]+$/, '');
  return before.some((part) => part.endsWith(rest)) ? '' : rest;
}

/** Failed pods, the last to fail first. */
export function failedNodes({ status }: Workflow): WorkflowNode[] {
  const nodes = Object.values(status?.nodes ?? {});
  const failed = nodes.filter(
    ({ type, phase }) => type === 'Pod' && (phase === 'Failed' || phase === 'Error'),
  );
  // The last to fail is the one that mattered; by name where times are equal, so that the text stays the same.
  const time = (node: WorkflowNode) => node.finishedAt ?? '';
  return failed
    .sort((a, b) => order(time(b), time(a)) || order(a.name ?? '', b.name ?? ''))
    .slice(0, mostFailedSteps);
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
