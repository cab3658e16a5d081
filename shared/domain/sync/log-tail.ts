import { printableLines } from '#shared/base/errors';
import type { CronWorkflow, Workflow, WorkflowNode } from '../kinds/argo.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Pod, PodContainer } from '../kinds/core.ts';
import { annotations } from '../kinds/well-known.ts';
import { maskCredentials } from '../values/mask.ts';
import { failedNodes } from './failure.ts';
import { reportedFailure } from './results.ts';
import type { SyncPatch } from './status.ts';

/** The container of a template that does the work, as Argo names it. */
export const mainContainer = 'main';

/** How much of a log a failure quotes. */
export interface TailBounds {
  lines: number;
  /** In UTF-8. */
  bytes: number;
}

/** The step whose log is quoted. */
export interface FailedStep {
  run: Workflow;
  node: WorkflowNode;
}

/**
 * Returns the step whose log is to be read, when `patch` is about to report a failure for the first time. undefined where a log does not help:
 * for anything but a failure, if the worker has given a reason, or if no pod has failed.
 */
export function stepToQuote(
  workflow: ArtifactWorkflow,
  argo: Workflow | CronWorkflow | undefined,
  patch: SyncPatch,
  run: Workflow | undefined,
): FailedStep | undefined {
  const phase = patch.phase ?? workflow.status?.phase;
  const isNew = typeof patch.message === 'string' || patch.syncedAttempt !== undefined;
  const isFailure = phase === 'Failed' || phase === 'Error' || phase === 'Active';
  const failed = argo?.kind === 'CronWorkflow' ? run : (argo as Workflow | undefined);
  if (!isNew || !isFailure || !failed || !hasFailed(failed) || reportedFailure(failed) !== undefined)
    return undefined;
  const [node] = failedNodes(failed);
  return node && { run: failed, node };
}

function hasFailed({ status }: Workflow): boolean {
  return status?.phase === 'Failed' || status?.phase === 'Error';
}

/** True for the pod of a step whose main container has terminated: its log is complete. */
export function isPodOf({ metadata, status }: Pod, { node }: FailedStep): boolean {
  const main = status?.containerStatuses?.find(({ name }) => name === mainContainer);
  return metadata.annotations?.[annotations.argoNode] === node.id && main?.state?.terminated !== undefined;
}

/**
 * True if the log of a pod's main container may be quoted to people who may not read Secrets. A container that can read a Secret may have
 * printed it, and the Secret is not known here. With FallbackToLogsOnError, the template's author declares the end of the log fit to be
 * read: the kubelet quotes it in the pod's status, and Argo in the Workflow's (docs/decisions/0016-log-tail.md).
 */
export function mayQuoteLog({ spec }: Pod): boolean {
  const main = spec?.containers?.find(({ name }) => name === mainContainer);
  if (main === undefined) return false;
  return (
    main.terminationMessagePolicy === 'FallbackToLogsOnError' || !canReadSecrets(main, spec?.volumes ?? [])
  );
}

function canReadSecrets(
  { env = [], envFrom = [], volumeMounts = [] }: PodContainer,
  volumes: NonNullable<NonNullable<Pod['spec']>['volumes']>,
): boolean {
  const mounted = new Set(volumeMounts.map(({ name }) => name));
  return (
    env.some(({ valueFrom }) => valueFrom?.secretKeyRef !== undefined) ||
    envFrom.some(({ secretRef }) => secretRef !== undefined) ||
    volumes.some(
      ({ name, secret, csi, projected }) =>
        mounted.has(name) && (secret ?? csi ?? projected?.sources?.find((one) => one.secret)) !== undefined,
    )
  );
}

/** Returns the last lines of a log, whole lines where possible, with credentials masked. */
export function endOfLog(log: string, { lines, bytes }: TailBounds): string {
  // Masked before it is cut, or half a credential could remain; text far from the end is skipped.
  const near = maskCredentials(printableLines(log.slice(-4 * bytes)));
  const kept: string[] = [];
  let left = bytes;
  for (const line of near.trimEnd().split('\n').slice(-lines).reverse()) {
    const size = Buffer.byteLength(line) + 1;
    if (size > left) {
      if (kept.length === 0) kept.push(`…${endOf(line, left - 4)}`);
      break;
    }
    kept.push(line);
    left -= size;
  }
  return kept.reverse().join('\n').trim();
}

/** Returns the end of a text, at most `bytes` in UTF-8, without a partial character. */
function endOf(text: string, bytes: number): string {
  return Buffer.from(text)
    .subarray(-bytes)
    .toString('utf8')
    .replace(/^\ufffd+/, '');
}
