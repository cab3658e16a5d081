import { ownerOfKind } from '#shared/base/meta';
import type { CronWorkflow, Workflow } from '../kinds/argo.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Endpoint } from '../kinds/endpoint.ts';
import { tenantAccount } from '../kinds/well-known.ts';
import { missingAccount } from '../lifecycle/attempts.ts';
import { isUnwatched } from '../lifecycle/holds.ts';
import { hasEnded, isCompleted, isDeleting, phaseOf } from '../lifecycle/phases.ts';
import { hasMoved } from '../plan/endpoint-use.ts';
import { leftoverAt, needsConfiguration } from '../render/render.ts';
import { isOn } from '../settings/settings.ts';
import { isEndRecorded, isOverwritten } from '../submission/record.ts';
import { isRefused, limitingEndpoints, nextInLine, nextOfOrder, slotsWithout } from '../submission/slots.ts';
import {
  decideSubmission,
  needsRunning,
  type StatusPatch,
  type Submission,
} from '../submission/submission.ts';
import { isQueued, positionIn } from '../sync/queue.ts';
import { isSynced } from '../sync/status.ts';
import { artifactWorkflowExpiry } from '../ttl/ttl.ts';
import { type Duty, growing, hour, type Look, type Pace, progressDebounce, steady } from './duty.ts';
import type { View } from './view.ts';

/** Debounce of a Workflow that has not started: most start within this time; ms. */
const startDebounce = 3_000;
/** Minimum interval between two reports of a Workflow's progress; its end is reported at once; ms. */
const progressSpacing = 2_000;

/** Returns the duties of functions for an ArtifactWorkflow. */
export function artifactWorkflowDuties(view: View, workflow: ArtifactWorkflow, now: Date): Duty[] {
  return [
    ...renderDuties(view, workflow, now),
    ...submitDuties(view, workflow, now),
    ...syncDuties(view, workflow, now),
    ...expireDuties(view, workflow),
  ];
}

/** The duty to render or remove the Secret. Decided from the status alone: the bridge may not read Secrets. */
function renderDuties(view: View, workflow: ArtifactWorkflow, now: Date): Duty[] {
  const step = 'render';
  const due = now.getTime();
  const { configSecret, configReason, workflowRef } = workflow.status ?? {};
  // The garbage collector removes the Secret with its owner.
  if (isDeleting(workflow)) return [];
  if (!needsConfiguration(workflow)) {
    if (configSecret !== undefined) return [{ step, why: 'its configuration is not needed any more', due }];
    const at = leftoverAt(workflow);
    return at === undefined
      ? []
      : [{ step, why: 'a Secret may be left that its status does not name', due: at }];
  }
  if (configSecret === undefined) {
    const ends = endsOf(view, workflow);
    if (ends.isStale) return [];
    if (configReason === undefined) return [{ step, why: 'it has no configuration', due }];
    return [{ step, why: `${configReason}, with ${ends.state}`, look: growing() }];
  }
  const version = view.secretVersion(workflow.metadata.namespace ?? '', configSecret.name);
  if (version === '') return [{ step, why: `Secret "${configSecret.name}" is gone`, due }];
  // Until its pod has started, an ArtifactWorkflow cannot run without the Secret; a schedule needs it for its next run.
  const isNeeded = ['Pending', 'Active'].includes(phaseOf(workflow)) && workflowRef !== undefined;
  return isNeeded && version === undefined
    ? [{ step, why: `Secret "${configSecret.name}" may be gone`, look: { ...growing(), first: 60_000 } }]
    : [];
}

/** Returns the state of the Endpoints of an ArtifactWorkflow. Stale: its Order is about to replace the ArtifactWorkflow. */
function endsOf(view: View, workflow: ArtifactWorkflow): { isStale: boolean; state: string } {
  const { metadata, spec } = workflow;
  const { namespace = '' } = metadata;
  const ends = [spec.srcRef, spec.dstRef].flatMap((ref) =>
    ref === undefined ? [] : [{ ref, found: view.endpoint(namespace, ref.name) }],
  );
  const isStale =
    ownerOfKind(workflow, 'Order') !== undefined &&
    ends.some(({ ref, found }) => found !== undefined && hasMoved(ref, found));
  const stateOf = (found: Endpoint | undefined) =>
    found === undefined
      ? 'none'
      : [found.metadata.generation, found.status?.secretGeneration ?? 0, ...versionsOf(view, found)].join(
          '.',
        );
  return { isStale, state: ends.map(({ ref, found }) => `${ref.name} ${stateOf(found)}`).join(', ') };
}

function versionsOf(view: View, { metadata, spec }: Endpoint): string[] {
  const names = [spec.secretRef?.name, spec.tls?.caSecretRef?.name];
  return names.flatMap((name) =>
    name === undefined ? [] : (view.secretVersion(metadata.namespace ?? '', name) ?? []),
  );
}

function submitDuties(view: View, workflow: ArtifactWorkflow, now: Date): Duty[] {
  const step = 'submit';
  const due = now.getTime();
  const running = needsRunning(workflow) ? view.argoOf(workflow) : undefined;
  const account = missingAccount(workflow);
  const lacksAccount = account === tenantAccount && !view.hasTenantAccount(workflow.metadata.namespace ?? '');
  const conflicts = view.conflictsOf(workflow);
  const decision = decideSubmission({ workflow, running, conflicting: conflicts, lacksAccount, now });
  const state = running === undefined ? '' : ` (${stateOf(running)})`;
  switch (decision.action) {
    case 'none':
      return holdsSlot(view, workflow) ? [{ step, why: 'it holds a slot of an Endpoint', due }] : [];
    case 'create':
      return startDuties(view, workflow, decision, now);
    case 'wait': {
      const { status = {}, until, message } = decision;
      if (!isWritten(workflow, status)) return [{ step, why: message, due }];
      return until === undefined ? [] : [{ step, why: message, due: until.getTime() }];
    }
    case 'release':
      // The release is the last part of the creation, and due at the same time.
      return [{ step, why: `attempt ${workflow.status?.attempts}`, due }];
    case 'finish':
      return isEndKnown(view, workflow) ? [{ step, why: `it may go${state}`, due }] : [];
    default:
      return [{ step, why: `${decision.action}${state}`, due }];
  }
}

/** The duty to start an attempt: due at once, when the limits have room, or, after a refusal, with backoff. */
function startDuties(
  view: View,
  workflow: ArtifactWorkflow,
  { status }: Submission & { action: 'create' },
  now: Date,
): Duty[] {
  const step = 'submit';
  const { metadata, status: { waitReason } = {} } = workflow;
  const why = `attempt ${status.attempts}`;
  const account = missingAccount(workflow);
  const isSeen = account === undefined || account === tenantAccount;
  if (isUnwatched(waitReason) || !isSeen) {
    const given = view.hasTenantAccount(metadata.namespace ?? '') ? 'given' : 'not given';
    const order = view.order(ownerOfKind(workflow, 'Order')?.uid ?? '');
    const asked = [metadata.generation, order?.metadata.generation, order && view.planOf(order).inputs].join(
      '.',
    );
    return [{ step, why: `${waitReason ?? account}: state ${asked}, namespace ${given}`, look: growing() }];
  }
  if (waitReason === 'LimitReached' && !isNext(view, workflow)) return [];
  return [{ step, why, due: now.getTime() }];
}

/** Returns true if every limit has room for the ArtifactWorkflow. The line is computed only where there is room: each of its many members asks. */
function isNext(view: View, workflow: ArtifactWorkflow): boolean {
  const { metadata, spec } = workflow;
  const { name, namespace = '' } = metadata;
  const isFirst = limitingEndpoints(workflow).every((limiting) => {
    const endpoint = view.endpoint(namespace, limiting);
    const { maxInFlight = Number.POSITIVE_INFINITY } = endpoint?.spec ?? {};
    if (endpoint === undefined || maxInFlight === Number.POSITIVE_INFINITY) return true;
    return view.inFlightAt(endpoint) < maxInFlight && nextAt(view, endpoint).has(name);
  });
  if (!isFirst || spec.parallelism === undefined) return isFirst;
  const order = view.order(ownerOfKind(workflow, 'Order')?.uid ?? '');
  if (order === undefined) return true;
  return view.inFlightOf(order) < spec.parallelism && nextOf(view.childrenOf(order)).has(name);
}

/** Returns the names of the ArtifactWorkflows that may start under the limit of an Endpoint. */
export function nextAt(view: View, endpoint: Endpoint): ReadonlySet<string> {
  return once(endpoint, view.limitedBy(endpoint), (users) => nextInLine(endpoint, users));
}

/** Returns the names of the ArtifactWorkflows that may start under the parallelism of their Order. */
export function nextOf(siblings: readonly ArtifactWorkflow[]): ReadonlySet<string> {
  return once(siblings, siblings, nextOfOrder);
}

const lines = new WeakMap<object, { of: readonly ArtifactWorkflow[]; names: ReadonlySet<string> }>();

/** Caches the line of a limit until its members change: each of its many members asks for it. */
function once(
  limit: object,
  of: readonly ArtifactWorkflow[],
  next: (of: readonly ArtifactWorkflow[]) => readonly ArtifactWorkflow[],
): ReadonlySet<string> {
  const known = lines.get(limit);
  if (known?.of === of) return known.names;
  const names = new Set(next(of).map(({ metadata }) => metadata.name));
  lines.set(limit, { of, names });
  return names;
}

function holdsSlot(view: View, workflow: ArtifactWorkflow): boolean {
  if (!hasEnded(workflow) && !isRefused(workflow)) return false;
  return limitingEndpoints(workflow).some((name) => {
    const endpoint = view.endpoint(workflow.metadata.namespace ?? '', name);
    return endpoint !== undefined && slotsWithout(endpoint, workflow) !== undefined;
  });
}

/** Returns true once its Order records how it ended, or need not. */
function isEndKnown(view: View, workflow: ArtifactWorkflow): boolean {
  const order = view.order(ownerOfKind(workflow, 'Order')?.uid ?? '');
  return isEndRecorded(workflow, order) || isOverwritten(workflow, view.conflictsOf(workflow));
}

function isWritten({ status = {} }: ArtifactWorkflow, patch: StatusPatch): boolean {
  const known = status as Record<string, unknown>;
  return Object.entries(patch).every(([field, value]) => (known[field] ?? null) === value);
}

function stateOf(argo: Workflow | CronWorkflow): string {
  const { kind, metadata, spec } = argo;
  const marks = [
    spec.suspend === true ? 'suspended' : '',
    'shutdown' in spec ? 'shut down' : '',
    metadata.deletionTimestamp === undefined ? '' : 'being deleted',
  ];
  return [kind, metadata.name, progressOf(argo), ...marks].filter((text) => text !== '').join(' ');
}

function progressOf({ kind, status }: Workflow | CronWorkflow): string {
  if (kind === 'Workflow') return (status as Workflow['status'])?.phase || 'new';
  const {
    active,
    lastScheduledTime,
    succeeded = 0,
    failed = 0,
  } = (status ?? {}) as NonNullable<CronWorkflow['status']>;
  return `${active?.[0]?.name ?? 'idle'} ${lastScheduledTime ?? ''} ${succeeded}/${failed}`;
}

function syncDuties(view: View, workflow: ArtifactWorkflow, now: Date): Duty[] {
  const argo = view.argoOf(workflow);
  const run = argo?.kind === 'CronWorkflow' ? view.newestRunOf(argo as CronWorkflow) : undefined;
  const isUnreadable = workflow.spec.cron !== undefined && !view.hasSchedules;
  if (isSynced(workflow, argo, now, { run, isUnreadable })) {
    if (argo?.kind !== 'Workflow' || !isQueued(argo)) return [];
    return [{ step: 'sync', why: 'its place in the queue', look: placeLook(workflow) }];
  }
  const seen = [argo, run].flatMap((object) => (object === undefined ? [] : [stateOf(object)]));
  const why = seen.join(', ') || 'it has no Workflow';
  const pace = syncPace(argo);
  return [{ step: 'sync', why, due: now.getTime(), ...(pace && { pace }) }];
}

/** Progress may wait for what ends or starts: the next report supersedes it. Undefined for an end, and for schedules. */
function syncPace(argo: Workflow | CronWorkflow | undefined): Pace | undefined {
  if (argo?.kind !== 'Workflow') return undefined;
  const { phase } = (argo as Workflow).status ?? {};
  if (isCompleted(phase)) return undefined;
  const debounce = phase === 'Running' ? progressDebounce : startDebounce;
  return { spacing: progressSpacing, debounce, yields: true };
}

/** Looks at a place in a queue more seldom the further it is from the front: the total rate grows with the logarithm of the queue's length. */
function placeLook({ status }: ArtifactWorkflow): Look['look'] {
  const position = positionIn(status?.message);
  if (position === undefined) return growing();
  return steady(Math.min(hour, Math.max(5, position) * 2_000));
}

function expireDuties(view: View, workflow: ArtifactWorkflow): Duty[] {
  if (!isOn('ttl', view.settings)) return [];
  const order = view.order(ownerOfKind(workflow, 'Order')?.uid ?? '');
  const at = artifactWorkflowExpiry(workflow, order);
  return at === undefined ? [] : [{ step: 'expire', why: 'its time to live is over', due: at.getTime() }];
}
