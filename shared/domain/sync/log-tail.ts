import { printableLines } from '#shared/base/errors';
import type { CronWorkflow, Workflow, WorkflowNode } from '../kinds/argo.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Pod, PodContainer } from '../kinds/core.ts';
import { annotations } from '../kinds/well-known.ts';
import { maskCredentials } from '../values/mask.ts';
import { failedNodes } from './failure.ts';
import { reportedFailure } from './results.ts';
import type { SyncPatch } from './status.ts';

/** The container of a template that does its work, as Argo names it. */
export const mainContainer = 'main';

/** How much of a log a failure quotes. */
export interface TailBounds {
  lines: number;
  /** In UTF-8. */
  bytes: number;
}

/** The step whose log is to be quoted. */
export interface FailedStep {
  run: Workflow;
  node: WorkflowNode;
}

/**
 * The step of which the log is to be read, once `patch` is going to tell of a failure for the first time. Undefined where a log does not help:
 * for everything but a failure, where the worker has said why, and where no pod has failed.
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

/** True for the pod of a step whose main container has run to an end: there is no other log of it. */
export function isPodOf({ metadata, status }: Pod, { node }: FailedStep): boolean {
  const main = status?.containerStatuses?.find(({ name }) => name === mainContainer);
  return metadata.annotations?.[annotations.argoNode] === node.id && main?.state?.terminated !== undefined;
}

/**
 * Whether the log of a pod's main container may be quoted where other people read than may read Secrets: a container that can read a
 * Secret may have printed it, and nobody here knows the Secret to look for it. FallbackToLogsOnError is the word of the template's author
 * that the end of the log is fit to be read: the kubelet quotes it in the pod's status, and Argo in the Workflow's
 * (docs/decisions/0016-log-tail.md).
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

/** The last lines of a log, whole ones where possible, without what looks like a credential. */
export function endOfLog(log: string, { lines, bytes }: TailBounds): string {
  // Masked before it is cut, or half a credential could stay; what is far from the end is not looked at.
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

/** The end of a text, at most `bytes` of it in UTF-8, without half a character. */
function endOf(text: string, bytes: number): string {
  return Buffer.from(text)
    .subarray(-bytes)
    .toString('utf8')
    .replace(/^\ufffd+/, '');
}
