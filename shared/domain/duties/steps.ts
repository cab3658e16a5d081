/** The kinds that have steps. Other kinds are only observed. */
export const dutyKinds = ['Order', 'ArtifactWorkflow', 'Endpoint'] as const;
export type DutyKind = (typeof dutyKinds)[number];

/**
 * Every step, one per function, and the kinds that have the step. The type, the parser of step events and the test of the Triggers in
 * knative/base derive from this list.
 */
export const steps = {
  decompose: { kinds: ['Order'], meaning: 'create, patch or delete its ArtifactWorkflows' },
  'roll-up': { kinds: ['Order'], meaning: 'write its status' },
  render: { kinds: ['ArtifactWorkflow'], meaning: 'create or delete the Secret that configures it' },
  submit: { kinds: ['ArtifactWorkflow'], meaning: 'start or stop its Workflow' },
  sync: { kinds: ['ArtifactWorkflow'], meaning: 'copy the state of its Workflow into its status' },
  'track-credentials': { kinds: ['Endpoint'], meaning: 'look at the data of its Secrets' },
  probe: { kinds: ['Endpoint'], meaning: 'try its server' },
  expire: { kinds: ['Order', 'ArtifactWorkflow'], meaning: 'delete it, its time to live is over' },
} as const satisfies Record<string, { kinds: readonly DutyKind[]; meaning: string }>;

/** What a function does for one object. */
export type Step = keyof typeof steps;

export const stepNames = Object.keys(steps) as Step[];

/** Returns true for the name of a step. */
export function isStep(text: string): text is Step {
  return Object.hasOwn(steps, text);
}

/** Returns true for an object of a kind that has steps. */
export function hasDuties<T extends { kind: string }>(object: T): object is T & { kind: DutyKind } {
  return dutyKinds.some((kind) => kind === object.kind);
}
