import { Conduit, type Skews } from './conduit.ts';
import type { Operation } from './edits.ts';
import type { Limits } from './limits.ts';
import { heal, isWhole, objectsUnder, operations, retryAll } from './operations.ts';

const acts: readonly Operation[] = Object.values(operations);
/** Right, seconds and minutes wrong, in both directions; ms. */
const wrong = [0, 0, 3_000, -3_000, 90_000, -90_000, 300_000, -300_000];

/** Kinds whose objects are needed, or say that something is missing. */
const telling = new Set(['Endpoint', 'Secret', 'ArtifactWorkflow', 'ClusterArtifactType', 'ServiceAccount']);

/** A story: how wrong the clocks are and which limits there are, and what happens, one number for each step. */
export interface Story {
  clocks: number;
  /** Which of the first deliveries after the end the broker loses: a bit for each. */
  lost: number;
  steps: readonly number[];
}

/** Plays a story: functions, bridge, broker, Argo and people by turns; then everything is made good, and goes on until nothing moves. */
export async function play(
  { clocks, lost, steps }: Story,
  { checksRest = false, bySweep = false } = {},
): Promise<Conduit> {
  const limits = limitsOf(clocks);
  const conduit = new Conduit(skewsOf(clocks), objectsUnder(limits), limits);
  conduit.kube.listen(({ object }) => {
    if (telling.has(object.kind)) conduit.note(isWhole(conduit));
  });
  // In half of the stories functions are never so slow that time passes while they are at work.
  const isSwift = steps.length % 2 === 0;
  for (const step of steps) await take(conduit, step % 64, step >> 6, isSwift);
  await heal(conduit);
  conduit.note(isWhole(conduit));
  conduit.lose(lost);
  conduit.checksRest = checksRest;
  conduit.bySweep = bySweep;
  await conduit.settle();
  conduit.lies.push(...(await conduit.unseenWork()));
  if (conduit.meddled) {
    await retryAll(conduit);
    await conduit.settle();
  }
  return conduit;
}

/** Most steps let something go on that is under way; few do harm. */
async function take(conduit: Conduit, kind: number, choice: number, isSwift: boolean): Promise<void> {
  if (kind < 20) await conduit.take(choice);
  else if (kind < 28) conduit.observe(choice);
  else if (kind < 36) conduit.send(choice);
  else if (kind < 46) conduit.working < 4 ? conduit.begin(choice) : await conduit.take(choice);
  else if (kind < 51) conduit.argo.step();
  else if (kind < 53) await conduit.collect();
  else if (kind < 56 && !(isSwift && conduit.working > 0)) conduit.pass(1_000 * (1 + (choice % 40)));
  else if (kind < 56) await conduit.take(choice);
  else if (kind === 56) conduit.disturb(choice, 'lose');
  else if (kind === 57) conduit.disturb(choice, 'double');
  else if (kind === 58) conduit.kill(choice, choice % 2 === 0);
  else {
    await acts[(choice >> 4) % acts.length]?.(conduit, choice % 16);
    conduit.note(isWhole(conduit));
  }
}

/** In half of the stories there are none. */
function limitsOf(clocks: number): Limits {
  const limits = [{}, {}, { maxInFlight: 1 }, { parallelism: 1 }];
  return limits[(clocks >> 18) % limits.length] ?? {};
}

function skewsOf(clocks: number): Skews {
  const at = (digit: number) => wrong[(clocks >> (3 * digit)) % wrong.length] ?? 0;
  return { api: at(0), argo: at(1), bridge: at(2), functions: [at(3), at(4), at(5)] };
}
