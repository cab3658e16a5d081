import {
  type ArtifactWorkflow,
  annotations,
  type CurrentVersion,
  currentVersions,
  decideChildren,
  type Hold,
  holdReasons,
  isFinished,
  type Order,
  type OrderPlan,
  phaseOf,
} from '#shared/domain';

/** What would become of one artifact, were the Order applied. */
export interface Outcome {
  artifact: string;
  type: string;
  /** `remove`: it is no longer in the Order. */
  action: 'run' | 're-use' | 'goes on' | 'keep' | 'wait' | 'refuse' | 'cancel' | 'remove';
  reason: string;
  message: string;
  /** The ArtifactWorkflow that would be made, where one would. */
  workflow?: ArtifactWorkflow;
}

/** What the functions would do for an Order: they decide with the same plan. `existing`: the ArtifactWorkflows that it owns. */
export function previewOf(order: Order, plan: OrderPlan, existing: readonly ArtifactWorkflow[]): Outcome[] {
  const { create, stop, remove } = decideChildren(order, plan, existing);
  const made = new Map(create.map((workflow) => [workflow.metadata.name, workflow]));
  const versions = currentVersions(order, plan, existing);
  const kept = new Set(versions.flatMap((each) => each.versions));
  const gone = [...stop, ...remove].filter((workflow) => !kept.has(workflow));
  return [...versions.map((each) => outcomeOf(order, each, made)), ...gone.map(removed)];
}

function outcomeOf(
  order: Order,
  current: CurrentVersion,
  made: ReadonlyMap<string, ArtifactWorkflow>,
): Outcome {
  const { artifact, workflow, recorded } = current;
  const type = order.spec.artifacts?.[artifact.index]?.type ?? '';
  const common = { artifact: artifact.name ?? `#${artifact.index}`, type, reason: '' };
  if (artifact.cancel === true) return { ...common, action: 'cancel', message: 'it is cancelled' };
  if (artifact.state === 'held') return { ...common, ...heldOutcome(artifact.hold, workflow) };
  if (workflow || recorded) return { ...common, ...presentOutcome(current) };
  const wanted = made.get(artifact.workflow.metadata.name) ?? artifact.workflow;
  const cause = wanted.metadata.annotations?.[annotations.cause];
  const message = cause ?? (current.versions.length > 0 ? 'runs again' : 'new');
  return { ...common, action: 'run', message, workflow: wanted };
}

type Part = Pick<Outcome, 'action' | 'message'>;

function heldOutcome(
  { reason, message }: Hold,
  workflow: ArtifactWorkflow | undefined,
): Part & { reason: string } {
  if (workflow) return { action: 'keep', reason, message: `${phaseOf(workflow)} as before; ${message}` };
  return { action: holdReasons[reason] === 'wrong' ? 'refuse' : 'wait', reason, message };
}

/** Of an artifact whose version in force is there, or is recorded as ended. */
function presentOutcome({ workflow, recorded }: CurrentVersion): Part {
  const phase = workflow ? phaseOf(workflow) : (recorded?.phase ?? '');
  if (phase === 'Succeeded') {
    const digest = workflow?.status?.results?.digest ?? recorded?.digest;
    return { action: 're-use', message: `has arrived${digest ? ` as ${digest.slice(0, 19)}` : ''}` };
  }
  if (workflow && !isFinished(workflow)) return { action: 'goes on', message: phase };
  return { action: 'keep', message: `${phase} as before: retry runs it again` };
}

function removed({ metadata, spec }: ArtifactWorkflow): Outcome {
  const artifact = spec.artifact?.name ?? metadata.name;
  return { artifact, type: spec.type ?? '', action: 'remove', reason: '', message: 'no longer in the Order' };
}
