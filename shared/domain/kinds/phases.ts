/** Without zod, so that programs that only name phases do not load it. */

/** Phases of an Order as a whole. */
export const orderPhases = [
  'Pending',
  'Running',
  'Succeeded',
  'Failed',
  'Cancelled',
  'Suspended',
  'Scheduled',
] as const;
export type OrderPhase = (typeof orderPhases)[number];

/** Phases of an ArtifactWorkflow; an entry in an Order's status may also be `Invalid`. */
export const workflowPhases = [
  'Pending',
  'Queued',
  'Running',
  'Succeeded',
  'Failed',
  'Error',
  'Active',
  'Stopped',
  'Cancelled',
] as const;
export type WorkflowPhase = (typeof workflowPhases)[number];
