import type { Workflow, WorkflowNode } from '../kinds/argo.ts';
import { longestFailure, mostFailedSteps } from '../values/limits.ts';
import { cut } from '../values/text.ts';

/** 128 + SIGKILL, and the kubelet's reason for its most common cause. */
const killedCode = /exit code 137\b|OOMKilled/;
/** What Argo says of a container that ended badly, where there is nothing else to say. */
const bareExitCode = /^([\w-]+: )?Error \(exit code \d+\)$/;
const killedText =
  'the worker was killed before it could say why: its container may have run out of memory (raise the limit in the workflow template) or been evicted or stopped by hand; spec.retry or the annotation arc.opendefense.cloud/retry-at of the Order runs it again';

/**
 * Why a Workflow failed, for the person who has to act: the worker's own message first, then the Workflow's message and
 * those of the failed nodes, which hold exit codes and termination messages.
 */
export function failureMessage(workflow: Workflow, reported: string | undefined): string {
  const parts: string[] = [];
  const said: string[] = [];
  const add = (text: string | undefined, where = '') => {
    const added = newIn(text?.trim() ?? '', said);
    if (added === '') return;
    // The worker has said why; its exit code says the same in a number.
    if (reported !== undefined && bareExitCode.test(added)) return;
    said.push(added);
    parts.push(where + added);
  };
  add(reported);
  add(workflow.status?.message);
  for (const { message, displayName } of failedNodes(workflow))
    add(message, displayName ? `step ${displayName}: ` : '');
  const killed = reported === undefined && parts.some((part) => killedCode.test(part));
  if (killed) parts.unshift(killedText);
  return cut(parts.join('; '), longestFailure);
}

/** What a text adds to those before it: Argo repeats a node's message as the Workflow's, and both quote the worker. */
function newIn(text: string, before: readonly string[]): string {
  let rest = text;
  for (const part of before)
    if (rest.endsWith(part)) rest = rest.slice(0, -part.length).replace(/[\s:;]+$/, '');
  return before.some((part) => part.endsWith(rest)) ? '' : rest;
}

function failedNodes({ status }: Workflow): WorkflowNode[] {
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
