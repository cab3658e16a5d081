/**
 * Every reason to wake an object. All other lists derive from this one: the type, what the bridge forgets, what the parser of
 * wake-ups accepts, and what the Triggers in knative/base must let through. `cause` says where a reason comes from: a `change`
 * has a row in the table of wakes, a `time` comes from the bridge's clock.
 */
export const wakeReasons = {
  changed: { cause: 'change', meaning: 'its spec, annotations or deletion changed' },
  created: { cause: 'change', meaning: 'it was created, complete: only its configuration is missing' },
  inputs: { cause: 'change', meaning: 'an object that it refers to changed' },
  rendered: { cause: 'change', meaning: 'its configuration was rendered' },
  cancelled: { cause: 'change', meaning: 'its spec.cancel was set' },
  ended: { cause: 'change', meaning: 'its attempt ended: its configuration may have to go' },
  failed: {
    cause: 'change',
    meaning:
      'its attempt ended, and it failed, has a slot or is to run again: a retry has to be decided, a slot to be given back',
  },
  workflow: { cause: 'change', meaning: 'the status of its Workflow or CronWorkflow changed' },
  stopping: {
    cause: 'change',
    meaning: 'it is to be deleted, or its Workflow changed while it is to be stopped',
  },
  children: { cause: 'change', meaning: 'the status of an object that it owns changed' },
  gone: { cause: 'change', meaning: 'an object that it owns disappeared' },
  slot: { cause: 'change', meaning: 'there is room under a limit, or another version of its artifact ended' },
  due: { cause: 'time', meaning: 'a time came that its spec or status sets' },
  resync: { cause: 'time', meaning: 'a repetition, in case an event was lost' },
} as const satisfies Record<string, { cause: 'change' | 'time'; meaning: string }>;

/** Why an object is woken. */
export type WakeReason = keyof typeof wakeReasons;
/** The reasons that a row of the table of wakes gives. */
export type ChangeReason = ReasonOf<'change'>;
/** The reasons that the bridge's clock gives. */
export type TimeReason = ReasonOf<'time'>;

type ReasonOf<Cause extends 'change' | 'time'> = {
  [Reason in WakeReason]: (typeof wakeReasons)[Reason]['cause'] extends Cause ? Reason : never;
}[WakeReason];

export const wakeReasonNames = Object.keys(wakeReasons) as WakeReason[];

/** True for a text that is one of the reasons. */
export function isWakeReason(text: string): text is WakeReason {
  return Object.hasOwn(wakeReasons, text);
}

/** The kinds that functions are woken for. Other kinds are only watched. */
export const wokenKinds = ['Order', 'ArtifactWorkflow', 'Endpoint'] as const;
export type WokenKind = (typeof wokenKinds)[number];

/** True for a kind that functions are woken for. */
export function isWokenKind(kind: string): kind is WokenKind {
  return wokenKinds.some((one) => one === kind);
}
