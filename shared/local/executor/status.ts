import type { AttemptResult } from './attempt.ts';
import type { Parameter, Phase, Workflow, WorkflowNode, WorkflowStatus } from './workflow.ts';

/** A merge patch of a Workflow: its status, and the two labels that Argo derives from it. */
export interface WorkflowPatch {
  metadata: { uid?: string; labels: Record<string, string> };
  status: WorkflowStatus;
}

const phaseLabel = 'workflows.argoproj.io/phase';
const completedLabel = 'workflows.argoproj.io/completed';

/** One attempt, for the nodes of the status. */
export interface Attempt {
  startedAt: string;
  finishedAt?: string;
  progress?: string;
  result?: AttemptResult;
}

/** Patch for the start of a Workflow. A Workflow restarted after the executor died keeps its start time. */
export function startedPatch(workflow: Workflow, now: string): WorkflowPatch {
  return patchOf(workflow, 'Running', false, {
    startedAt: workflow.status?.startedAt ?? now,
    progress: workflow.status?.progress ?? '0/1',
    conditions: [{ type: 'PodRunning', status: 'True' }],
  });
}

/** Patch for an end without a run: an invalid spec, a missing template, a shutdown before its turn. */
export function refusedPatch(
  workflow: Workflow,
  phase: 'Failed' | 'Error',
  message: string,
  now: string,
): WorkflowPatch {
  return patchOf(workflow, phase, true, {
    startedAt: workflow.status?.startedAt ?? now,
    finishedAt: now,
    message,
    conditions: [{ type: 'Completed', status: 'True' }],
  });
}

/** Patch for the end of the last attempt. `message` replaces the node's own on the Workflow. */
export function finishedPatch(
  workflow: Workflow,
  end: {
    result: AttemptResult;
    nodes: Record<string, WorkflowNode>;
    progress: string;
    message?: string;
    now: string;
  },
): WorkflowPatch {
  const { result, now } = end;
  const message = end.message ?? result.message;
  const global = globalOutputs(result.outputs);
  return patchOf(workflow, result.phase, true, {
    finishedAt: now,
    progress: end.progress,
    nodes: end.nodes,
    ...(message !== undefined && { message }),
    ...(global.length > 0 && { outputs: { parameters: global } }),
    conditions: [
      { type: 'PodRunning', status: 'False' },
      { type: 'Completed', status: 'True' },
    ],
  });
}

function patchOf(
  workflow: Workflow,
  phase: Phase,
  completed: boolean,
  status: WorkflowStatus,
): WorkflowPatch {
  const { uid } = workflow.metadata;
  return {
    // The uid prevents a write to a later object of the same name.
    metadata: {
      ...(uid !== undefined && { uid }),
      labels: { [phaseLabel]: phase, [completedLabel]: String(completed) },
    },
    status: { phase, ...status },
  };
}

function globalOutputs(outputs: readonly Parameter[]): Parameter[] {
  return outputs
    .filter((one) => one.globalName !== undefined)
    .map((one) => ({ name: one.globalName ?? one.name, value: one.value ?? '' }));
}

/** Returns `status.nodes` of a single pod, or of a Retry with one pod per attempt. */
export function nodesOf(
  workflow: Workflow,
  templateName: string,
  attempts: readonly Attempt[],
  retried: boolean,
): Record<string, WorkflowNode> {
  const root = workflow.metadata.name;
  const last = attempts.at(-1);
  if (last === undefined) return {};
  if (!retried) return { [root]: podNode(root, root, templateName, last) };
  const children = attempts.map((attempt, index) =>
    podNode(nodeIdOf(root, index, true), `${root}(${index})`, templateName, attempt),
  );
  const { outputs, ...pod } = podNode(root, root, templateName, last);
  const first = attempts[0]?.startedAt ?? last.startedAt;
  const retry: WorkflowNode = {
    ...pod,
    type: 'Retry',
    startedAt: first,
    children: children.map((node) => node.id),
  };
  return Object.fromEntries(
    [{ ...retry, ...(outputs && { outputs }) }, ...children].map((node) => [node.id, node]),
  );
}

/** Returns the id of an attempt's node, counted from 0: also the name of its pod. */
export function nodeIdOf(root: string, attempt: number, retried: boolean): string {
  return retried ? `${root}-${fnv32(`${root}(${attempt})`)}` : root;
}

function podNode(id: string, name: string, templateName: string, attempt: Attempt): WorkflowNode {
  const { result } = attempt;
  const outputs = result && {
    ...(result.outputs.length > 0 && { parameters: result.outputs }),
    ...(result.exitCode !== undefined && { exitCode: result.exitCode }),
  };
  return {
    id,
    name,
    displayName: name,
    type: 'Pod',
    templateName,
    phase: result?.phase ?? 'Running',
    startedAt: attempt.startedAt,
    ...(attempt.finishedAt !== undefined && { finishedAt: attempt.finishedAt }),
    ...(attempt.progress !== undefined && { progress: attempt.progress }),
    ...(result?.message !== undefined && { message: result.message }),
    ...(outputs && Object.keys(outputs).length > 0 && { outputs }),
  };
}

/** FNV-1a, 32 bit: the hash in Argo's node ids. */
export function fnv32(text: string): number {
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(text)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return hash;
}

/** Parses Argo's `N/M`, N at most M and M not 0; undefined for any other text. */
export function progressOf(text: string | undefined): string | undefined {
  const match = /^(\d{1,16})\/(\d{1,16})$/.exec(text?.trim() ?? '');
  if (!match || Number(match[2]) === 0 || Number(match[1]) > Number(match[2])) return undefined;
  return match[0];
}
