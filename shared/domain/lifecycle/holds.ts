/**
 * Why an artifact neither runs nor has ended: the `reason` of its entry in the Order's status. This list is the only one; docs/status.md
 * says what each reason means and what to do, and a test compares the two.
 *
 * `wrong`: can never be transferred as written, and is Invalid at once. `absent`: an input is missing that may appear in a moment.
 * `refused`: something refuses a request. Both are Pending for `gracePeriodMs`, then Invalid. `waits`: continues by itself, and is Pending.
 */
export const holdReasons = {
  EndpointMissing: 'absent',
  TypeMissing: 'absent',
  TemplateMissing: 'absent',
  SecretMissing: 'absent',
  SecretUnusable: 'absent',
  EndpointMoved: 'absent',
  PolicyMissing: 'absent',
  ArgoMissing: 'absent',
  AccountMissing: 'refused',
  NamespaceNotGiven: 'refused',
  NameTaken: 'refused',
  CreationFailed: 'refused',
  QuotaExceeded: 'refused',
  RenderingFailed: 'refused',
  SubmissionFailed: 'refused',
  SchedulesOff: 'refused',
  NoEndpoint: 'wrong',
  UsageMismatch: 'wrong',
  RuleMismatch: 'wrong',
  TypeNotAllowed: 'wrong',
  PolicyNotApplied: 'wrong',
  TargetTaken: 'wrong',
  SpecMismatch: 'wrong',
  SpecUnreadable: 'wrong',
  EndpointUnread: 'waits',
  Preparing: 'waits',
  PlaceInUse: 'waits',
  LimitReached: 'waits',
  Starting: 'waits',
  Queued: 'waits',
  Retrying: 'waits',
  Suspended: 'waits',
  Cancelling: 'waits',
  Ending: 'waits',
} as const satisfies Record<string, HoldKind>;

type HoldKind = 'wrong' | 'absent' | 'refused' | 'waits';
export type HoldReason = keyof typeof holdReasons;

/** What blocks an artifact: the reason for machines, the message for people. */
export interface Hold {
  reason: HoldReason;
  message: string;
}

/** Returns the patch of an ArtifactWorkflow's status that records a hold, or clears the recorded one. */
export function holdStatus(hold?: Hold): { waitReason: HoldReason | null; waitMessage: string | null } {
  return { waitReason: hold?.reason ?? null, waitMessage: hold?.message ?? null };
}

/** Hold of a scheduled artifact while CronWorkflows may not be read. Argo may still run the schedule, unseen and unstoppable from here. */
export const schedulesOff: Hold = {
  reason: 'SchedulesOff',
  message:
    'schedules are switched off: ARC starts none, and neither sees nor suspends a CronWorkflow that exists; remove cron, or delete the Order',
};

/** Grace period for an absent input before its artifact is Invalid: a set of manifests may be applied in any order. */
export const gracePeriodMs = 10_000;

/** Returns when the grace period of an absence ends; Unix milliseconds. Times are recorded in whole seconds, rounded down. */
export function gracePeriodEnd(since: number): number {
  return since + gracePeriodMs + 1_000;
}

/** True for a reason that turns Invalid when it lasts. */
export function needsPerson(reason: string | undefined): boolean {
  return isAbsence(reason) || kindOf(reason) === 'refused';
}

/** True for a reason that ends when something changes that is not watched: a right, a quota, a policy, an account, Argo. */
export function isUnwatched(reason: string | undefined): boolean {
  return kindOf(reason) === 'refused' || reason === 'ArgoMissing';
}

/** True for a missing input that the message names: another message starts a new grace period. */
export function isAbsence(reason: string | undefined): boolean {
  return kindOf(reason) === 'absent';
}

/** True for a reason that waiting cannot end. */
export function isWrong(reason: string | undefined): boolean {
  return kindOf(reason) === 'wrong';
}

/** Returns the most serious of several holds: wrong before absent, absent before waiting. */
export function mostSerious(holds: readonly (Hold | undefined)[]): Hold | undefined {
  const found = (kind: HoldKind) => holds.find((one) => kindOf(one?.reason) === kind);
  return found('wrong') ?? found('absent') ?? found('waits');
}

function kindOf(reason: string | undefined): HoldKind | undefined {
  return isHoldReason(reason) ? holdReasons[reason] : undefined;
}

/** True for the text of a reason. */
export function isHoldReason(reason: string | undefined): reason is HoldReason {
  return reason !== undefined && Object.hasOwn(holdReasons, reason);
}
