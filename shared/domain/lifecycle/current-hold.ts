import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import { tenantAccount } from '../kinds/well-known.ts';
import { giveNamespace } from '../values/give-namespace.ts';
import { brief } from '../values/text.ts';
import { isCancelDue, missingAccount, owesAttempt } from './attempts.ts';
import { type Hold, isHoldReason, schedulesOff } from './holds.ts';
import { phaseOf } from './phases.ts';

/** Hold of an artifact that has no Workflow yet and is not blocked. */
export const preparing: Hold = { reason: 'Preparing', message: 'its Workflow is being prepared' };

/** Hold of such an artifact while its Order is being deleted. */
export const going: Hold = { reason: 'Ending', message: 'the Order is being deleted' };

/** Hold of an artifact that is about to end as Cancelled. */
export const cancelling: Hold = {
  reason: 'Cancelling',
  message: 'cancelled: its Workflow is being stopped',
};

/** Returns what a Pending ArtifactWorkflow waits for; undefined if it runs or has ended. */
export function holdOf(workflow: ArtifactWorkflow): Hold | undefined {
  const { spec, status = {} } = workflow;
  if (status.message === schedulesOff.message) return schedulesOff;
  const owed = owesAttempt(workflow);
  const phase = owed ? 'Pending' : phaseOf(workflow);
  // Also for a failed attempt that would be retried: the failure must not be reported in between.
  if (isCancelDue(workflow) && phase !== 'Running' && phase !== 'Active') return cancelling;
  if (phase === 'Queued') return { reason: 'Queued', message: status.message ?? 'it waits in a queue' };
  if (phase !== 'Pending') return undefined;
  if (spec.suspend === true && (owed || status.workflowRef === undefined)) return suspended;
  const told =
    toldBy(status.configReason, status.configMessage) ?? toldBy(status.waitReason, status.waitMessage);
  if (told) return told;
  const account = owed ? missingAccount(workflow) : undefined;
  if (account !== undefined) return accountHold(workflow, account);
  if (owed && phaseOf(workflow) === 'Cancelled') return preparing;
  if (owed) return { reason: 'Retrying', message: retryMessage(workflow) };
  return status.workflowRef === undefined ? preparing : starting(workflow);
}

/** Returns the hold that a function has recorded. */
function toldBy(reason: string | undefined, message: string | undefined): Hold | undefined {
  if (message === undefined) return undefined;
  return { reason: isHoldReason(reason) ? reason : preparing.reason, message };
}

const suspended: Hold = { reason: 'Suspended', message: 'suspended: set spec.suspend of the Order to false' };

function accountHold({ metadata: { namespace = '' } }: ArtifactWorkflow, account: string): Hold {
  const how = account === tenantAccount ? ` with ${giveNamespace(namespace)}` : '';
  const message = `ServiceAccount "${account}" not found: create it${how}`;
  return { reason: 'AccountMissing', message };
}

function retryMessage({ status = {} }: ArtifactWorkflow): string {
  const when = status.nextAttemptTime === undefined ? '' : ` at ${status.nextAttemptTime}`;
  const why = status.message ? `: ${brief(status.message)}` : '';
  return `attempt ${status.attempts ?? 1} failed, trying again${when}${why}`;
}

function starting({ status = {} }: ArtifactWorkflow): Hold {
  const { workflowRef, syncedAttempt, message } = status;
  const why = message && workflowRef?.attempt === syncedAttempt ? `: ${message}` : '';
  return { reason: 'Starting', message: `Argo has not started its Workflow yet${why}` };
}
