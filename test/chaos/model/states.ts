import type { KubeObject } from '#shared/base/meta';
import { scenarios, worldOf } from './scenarios.ts';

const shown = new Set(['Order', 'ArtifactWorkflow', 'Endpoint']);

/** What clients tell states apart by: phase, conditions without their texts, and what was asked for that has not been seen. */
function stateOf({ kind, metadata, spec, status }: KubeObject): string {
  const {
    phase,
    conditions = [],
    observedGeneration,
  } = (status ?? {}) as {
    phase?: string;
    conditions?: { type: string; status: string }[];
    observedGeneration?: number;
  };
  const behind = (metadata.generation ?? 0) - (observedGeneration ?? 0);
  const going = metadata.deletionTimestamp !== undefined;
  const suspended = (spec as { suspend?: boolean } | undefined)?.suspend === true;
  const turned = conditions.map(({ type, status: yes }) => `${type}=${yes}`);
  return [kind, phase, ...turned, behind > 0, going, suspended, observedGeneration === undefined].join(' ');
}

/** One object for every state that an Order, ArtifactWorkflow or Endpoint takes while the scenarios run, by a name for the state. */
export async function reachedStates(): Promise<Map<string, KubeObject>> {
  const found = new Map<string, KubeObject>();
  const plays = scenarios.flatMap((scenario) => [0, 3].map((rounds) => ({ scenario, rounds })));
  for (const { scenario, rounds } of plays) {
    const world = worldOf(scenario);
    world.kube.listen(({ after }) => {
      if (after && shown.has(after.kind) && !found.has(stateOf(after))) found.set(stateOf(after), after);
    });
    for (let round = 0; round < rounds; round += 1) await world.round();
    await scenario.act(world);
    await world.settle();
  }
  return found;
}
