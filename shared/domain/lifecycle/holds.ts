/**
 * Why an artifact neither runs nor has ended: the `reason` of its entry in the Order's status. This is the one list; docs/status.md
 * says what each means and what to do about it, and a test holds the two together.
 *
 * `wrong`: as it is written it can never be moved, so it is Invalid at once. `absent`: something is missing, which may be there in a
 * moment, and `refused`: somebody does not let it go on; so it is Pending for `patienceMs` and only then Invalid. `waits`: it goes on by itself, and is Pending.
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

/** What holds an artifact up: the reason for machines, the message for people. */
export interface Hold {
  reason: HoldReason;
  message: string;
}

/** Of one on a schedule whose CronWorkflow may not be read. Where Argo runs it, it goes on, and nobody here sees or stops it. */
export const schedulesOff: Hold = {
  reason: 'SchedulesOff',
  message:
    'schedules are switched off: ARC starts none, and neither sees nor suspends a CronWorkflow that exists; remove cron, or delete the Order',
};

/** How long something may be absent before its artifact is Invalid: a bundle may be applied in any order. */
export const patienceMs = 10_000;

/** When something absent since then has been waited for long enough; Unix milliseconds. Times are recorded in whole seconds, rounded down. */
export function patienceEnd(since: number): number {
  return since + patienceMs + 1_000;
}

/** True for a reason that becomes Invalid when it lasts. */
export function needsPerson(reason: string | undefined): boolean {
  return isAbsence(reason) || kindOf(reason) === 'refused';
}

/** True for a reason that ends when somebody changes what nobody here looks at: a right, a quota, a policy, an account, Argo. */
export function isOutOfSight(reason: string | undefined): boolean {
  return kindOf(reason) === 'refused' || reason === 'ArgoMissing';
}

/** True where something is missing that the message names: when that is another thing, the wait begins anew. */
export function isAbsence(reason: string | undefined): boolean {
  return kindOf(reason) === 'absent';
}

/** True for a reason that no time mends. */
export function isWrong(reason: string | undefined): boolean {
  return kindOf(reason) === 'wrong';
}

/** The one of several holds that says most: what is wrong before what is absent, and that before what only waits. */
export function gravest(holds: readonly (Hold | undefined)[]): Hold | undefined {
  const found = (kind: HoldKind) => holds.find((one) => kindOf(one?.reason) === kind);
  return found('wrong') ?? found('absent') ?? found('waits');
}

function kindOf(reason: string | undefined): HoldKind | undefined {
  return isHoldReason(reason) ? holdReasons[reason] : undefined;
}

/** True for a text that is one of the reasons. */
export function isHoldReason(reason: string | undefined): reason is HoldReason {
  return reason !== undefined && Object.hasOwn(holdReasons, reason);
}
