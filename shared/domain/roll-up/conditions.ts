import type { Condition } from '../kinds/common.ts';
import type { OrderPhase } from '../kinds/phases.ts';
import { tellingCondition } from '../lifecycle/telling-condition.ts';
import { transition } from '../lifecycle/transition.ts';

type Verdict = Record<'Ready' | 'Reconciling' | 'Stalled', boolean>;

// kstatus (cli-utils, pkg/kstatus): Reconciling=True means "in progress", Stalled=True "failed", else Ready decides.
// A scheduled Order is Current unless an artifact without schedule has failed; a suspended or cancelled Order is neither failed nor done.
const verdicts: Record<OrderPhase, Verdict> = {
  Pending: { Ready: false, Reconciling: true, Stalled: false },
  Running: { Ready: false, Reconciling: true, Stalled: false },
  Succeeded: { Ready: true, Reconciling: false, Stalled: false },
  Failed: { Ready: false, Reconciling: false, Stalled: true },
  Cancelled: { Ready: false, Reconciling: false, Stalled: false },
  Suspended: { Ready: false, Reconciling: false, Stalled: false },
  Scheduled: { Ready: true, Reconciling: false, Stalled: false },
};

interface Standing {
  phase: OrderPhase;
  reason: string;
  message: string;
  /** True if an artifact has failed for good or is Invalid. */
  hasFailed?: boolean;
}

/**
 * Returns Ready, Reconciling and Stalled for a phase, with the message in the one by which kstatus decides; a condition whose status is unchanged
 * keeps its transition time.
 */
export function conditionsFor(
  { phase, reason, message, hasFailed = false }: Standing,
  generation: number | undefined,
  before: readonly Condition[],
  now: Date,
): Condition[] {
  const verdict = verdicts[phase === 'Scheduled' && hasFailed ? 'Failed' : phase];
  const telling = tellingCondition(verdict);
  return Object.entries(verdict).map(([type, yes]) =>
    transition(before, now, {
      type,
      status: yes ? 'True' : 'False',
      reason,
      message: type === telling ? message : '',
      ...(generation === undefined ? {} : { observedGeneration: generation }),
    }),
  );
}
