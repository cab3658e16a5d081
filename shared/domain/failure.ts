import { cut } from './entry.ts';
import type { Workflow, WorkflowNode } from './kinds/argo.ts';

/** Most bytes of a failure text in an ArtifactWorkflow, log lines included. */
const longest = 6_144;
const longestTail = 4_096;
const mostTailLines = 30;

/**
 * Why a Workflow failed, for the person who has to act: the worker's own words first, then the Workflow's message, the failed
 * nodes' (which hold exit codes and termination messages) and the last lines of the log, if somebody fetched them.
 */
export function failureMessage(workflow: Workflow, reported: string | undefined, tail?: string): string {
  const parts: string[] = [];
  for (const text of [reported, workflow.status?.message, ...failedNodes(workflow).map(describe)]) {
    const line = text?.trim();
    // Argo repeats a node's message as the Workflow's, and a termination message repeats the worker's.
    if (line && !parts.some((part) => part.includes(line))) parts.push(line);
  }
  const log = lastLines(tail);
  if (log !== '') parts.push(`last lines of the log:\n${log}`);
  return cut(parts.join('; '), longest);
}

function failedNodes({ status }: Workflow): WorkflowNode[] {
  const nodes = Object.values(status?.nodes ?? {});
  const failed = nodes.filter(
    ({ type, phase }) => type === 'Pod' && (phase === 'Failed' || phase === 'Error'),
  );
  // The last to fail is the one that mattered; by name where times are equal, so that the text stays the same.
  const time = (node: WorkflowNode) => node.finishedAt ?? '';
  return failed.sort((a, b) => order(time(b), time(a)) || order(a.name ?? '', b.name ?? '')).slice(0, 3);
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function describe(node: WorkflowNode): string | undefined {
  if (!node.message) return undefined;
  return node.displayName ? `step ${node.displayName}: ${node.message}` : node.message;
}

function lastLines(tail: string | undefined): string {
  if (!tail) return '';
  const lines = tail.trimEnd().split('\n').slice(-mostTailLines);
  while (lines.length > 1 && Buffer.byteLength(lines.join('\n')) > longestTail) lines.shift();
  return cut(lines.join('\n'), longestTail);
}
