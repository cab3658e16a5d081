import { revisionOf } from '../identity/artifact.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { ArtifactStatus } from '../kinds/order.ts';
import { isCancelDue, owesAttempt } from '../lifecycle/attempts.ts';
import { isFinalPhase, isStoppedByDeletion, phaseOf } from '../lifecycle/phases.ts';
import type { CurrentVersion } from '../plan/current.ts';
import { largestOrderStatus, longestDigest, longestMessage, shortestMessage } from '../values/limits.ts';
import { cut } from '../values/text.ts';

/** What one artifact may take in an Order's status, so that the whole object can be stored. */
export interface EntryBudget {
  /** Most bytes of a message, as JSON prints it. */
  messageBytes: number;
  /** Whether name, digest and attempts are shown; phase, index and completion time always are. */
  details: boolean;
}

/** Bytes of an entry without its message, and of its details. */
export const fixedBytes = 130;
export const detailBytes = 180;

/** The budget of each entry of an Order of so many artifacts; the same for all, whatever their messages. */
export function entryBudget(artifacts: number): EntryBudget {
  const each = largestOrderStatus / Math.max(1, artifacts);
  const details = each >= fixedBytes + detailBytes + 2 * shortestMessage;
  const left = Math.floor(each - fixedBytes - (details ? detailBytes : 0));
  return { details, messageBytes: Math.max(shortestMessage, Math.min(longestMessage, left)) };
}

/** The entry of one artifact in the Order's status. */
export function entryFor(current: CurrentVersion, budget: EntryBudget): ArtifactStatus {
  const { artifact, workflow, recorded } = current;
  const name = budget.details && artifact.name !== undefined ? { name: artifact.name } : {};
  const artifactIndex = artifact.index;
  if (recorded) return bounded({ ...recorded, artifactIndex }, budget);
  // Recorded as ended, it would never be created again.
  if (workflow && isStoppedByDeletion(workflow))
    return { artifactIndex, phase: artifact.cancel === true ? 'Cancelled' : 'Pending', ...name };
  if (workflow) return bounded({ artifactIndex, ...name, ...fromWorkflow(workflow) }, budget);
  if (artifact.cancel === true) return { artifactIndex, phase: 'Cancelled', ...name };
  if (artifact.state === 'ready') return { artifactIndex, phase: 'Pending', ...name };
  const phase = artifact.state === 'invalid' ? 'Invalid' : 'Pending';
  return bounded({ artifactIndex, phase, message: artifact.message, ...name }, budget);
}

function fromWorkflow({
  spec,
  status = {},
  metadata,
}: ArtifactWorkflow): Omit<ArtifactStatus, 'artifactIndex'> {
  const workflow = { apiVersion: '', kind: '', metadata, spec, status };
  const revision = revisionOf(workflow);
  const owed = owesAttempt(workflow);
  const phase = owed ? 'Pending' : phaseOf(workflow);
  const message = messageOf(workflow, owed);
  const running = phase === 'Running' || (phase === 'Active' && status.activeWorkflowRef !== undefined);
  return {
    phase,
    ...(message ? { message } : {}),
    // What is cancelled has not finished: its entry is no record of an end.
    ...(!isFinalPhase(phase) || phase === 'Cancelled' || status.completionTime === undefined
      ? {}
      : { completionTime: status.completionTime }),
    ...((status.attempts ?? 1) > 1 ? { attempts: status.attempts ?? 1 } : {}),
    ...(revision > 1 ? { revision } : {}),
    ...(running ? { progress: status.progress ?? '0/1' } : {}),
    ...(status.results?.digest === undefined ? {} : { digest: status.results.digest }),
  };
}

function messageOf(workflow: ArtifactWorkflow, owed: boolean): string | undefined {
  const { status = {} } = workflow;
  const phase = phaseOf(workflow);
  if (owed) return phase === 'Cancelled' ? undefined : retryMessage(workflow);
  if (phase === 'Succeeded') return undefined;
  if (isCancelDue(workflow)) return 'cancelled: its Workflow is being stopped';
  const waiting = phase === 'Pending' ? (status.configMessage ?? status.waitMessage) : undefined;
  // Until the next attempt is seen, the message is about the one before.
  return (phase === (status.phase ?? phase) ? status.message : undefined) ?? waiting;
}

function retryMessage({ status = {} }: ArtifactWorkflow): string {
  const when = status.nextAttemptTime === undefined ? '' : ` at ${status.nextAttemptTime}`;
  const why = status.message ? `: ${status.message}` : '';
  return `attempt ${status.attempts ?? 1} failed, trying again${when}${why}`;
}

function bounded(entry: ArtifactStatus, budget: EntryBudget): ArtifactStatus {
  const { name, attempts, digest, message, ...rest } = entry;
  return {
    ...rest,
    ...(message === undefined ? {} : { message: cut(message, budget.messageBytes) }),
    ...(budget.details && name !== undefined ? { name } : {}),
    ...(budget.details && attempts !== undefined ? { attempts } : {}),
    ...(budget.details && digest !== undefined ? { digest: digest.slice(0, longestDigest) } : {}),
  };
}
