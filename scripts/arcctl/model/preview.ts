import { ownerOfKind } from '#shared/base/meta';
import {
  type ArtifactWorkflow,
  annotations,
  type CurrentVersion,
  currentVersions,
  decideChildren,
  type Hold,
  holdReasons,
  isFinished,
  labels,
  type Order,
  type OrderPlan,
  phaseOf,
} from '#shared/domain';

/** The outcome for one artifact if the Order were applied. */
export interface Outcome {
  artifact: string;
  type: string;
  /** `remove`: the Order no longer lists the artifact. */
  action: 'run' | 're-use' | 'goes on' | 'keep' | 'wait' | 'refuse' | 'cancel' | 'remove';
  reason: string;
  message: string;
  /** The ArtifactWorkflow that would be created, if any. */
  workflow?: ArtifactWorkflow;
}

/** Previews an Order with the functions' own plan. `existing`: the ArtifactWorkflows that it owns. */
export function previewOf(order: Order, plan: OrderPlan, existing: readonly ArtifactWorkflow[]): Outcome[] {
  const { create, stop, remove } = decideChildren(order, plan, existing);
  const made = new Map(create.map((workflow) => [workflow.metadata.name, workflow]));
  const versions = currentVersions(order, plan, existing);
  const kept = new Set(versions.flatMap((each) => each.versions));
  const gone = [...stop, ...remove].filter((workflow) => !kept.has(workflow));
  return [...versions.map((each) => outcomeOf(order, each, made)), ...gone.map(removedOutcome)];
}

/** Returns the labels of the targets that an Order would newly write to. */
export function newTargets(outcomes: readonly Outcome[]): string[] {
  return [...new Set(outcomes.map(targetLabelOf).filter((place) => place !== undefined))];
}

/** Adds to the outcomes the other Orders whose ArtifactWorkflows, among `others`, have the same target. */
export function addSharedTargets(
  order: Order,
  outcomes: readonly Outcome[],
  others: readonly ArtifactWorkflow[],
): Outcome[] {
  const inForce = others.filter(({ metadata }) => metadata.labels?.[labels.superseded] === undefined);
  const byPlace = Map.groupBy(inForce, ({ metadata }) => metadata.labels?.[labels.target]);
  return outcomes.map((outcome) => {
    const place = targetLabelOf(outcome);
    const names = (place === undefined ? [] : (byPlace.get(place) ?? []))
      .map((workflow) => ownerOfKind(workflow, 'Order')?.name)
      .filter((name) => name !== undefined && name !== order.metadata.name);
    if (names.length === 0) return outcome;
    const sharers = [...new Set(names)].sort().map((name) => `Order "${name}"`);
    const message = `${outcome.message}; ${sharers.join(', ')} has the same target: each overwrites the other`;
    return { ...outcome, message };
  });
}

function targetLabelOf({ workflow }: Outcome): string | undefined {
  return workflow?.metadata.labels?.[labels.target];
}

function outcomeOf(
  order: Order,
  current: CurrentVersion,
  made: ReadonlyMap<string, ArtifactWorkflow>,
): Outcome {
  const { artifact, workflow, recorded } = current;
  const type = order.spec.artifacts?.[artifact.index]?.type ?? '';
  const common = { artifact: artifact.name ?? `#${artifact.index}`, type, reason: '' };
  if (artifact.cancel === true) return { ...common, action: 'cancel', message: 'cancelled' };
  if (artifact.state === 'held') return { ...common, ...heldOutcome(artifact.hold, workflow) };
  if (workflow || recorded) return { ...common, ...currentOutcome(current) };
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
  if (workflow) return { action: 'keep', reason, message: `${phaseOf(workflow)}, unchanged; ${message}` };
  return { action: holdReasons[reason] === 'wrong' ? 'refuse' : 'wait', reason, message };
}

/** Returns the outcome of an artifact whose current version exists or is recorded as ended. */
function currentOutcome({ workflow, recorded }: CurrentVersion): Part {
  const phase = workflow ? phaseOf(workflow) : (recorded?.phase ?? '');
  if (phase === 'Succeeded') {
    const digest = workflow?.status?.results?.digest ?? recorded?.digest;
    return { action: 're-use', message: `already copied${digest ? ` as ${digest.slice(0, 19)}` : ''}` };
  }
  if (workflow && !isFinished(workflow)) return { action: 'goes on', message: phase };
  return { action: 'keep', message: `${phase}, unchanged: retry runs it again` };
}

function removedOutcome({ metadata, spec }: ArtifactWorkflow): Outcome {
  const artifact = spec.artifact?.name ?? metadata.name;
  return { artifact, type: spec.type ?? '', action: 'remove', reason: '', message: 'no longer in the Order' };
}
