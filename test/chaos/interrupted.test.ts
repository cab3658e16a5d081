import { describe, expect, it } from 'vitest';
import { fc, runs, timeoutOf } from '#shared/base/testing';
import { expectedOf, outcomeOf } from './model/outcome.ts';
import { type Scenario, scenarios, worldOf } from './model/scenarios.ts';
import type { Work, World } from './model/world.ts';

/**
 * The real functions on an API in memory, called for everything again and again. `actAt`, `killAt`: after which write of a function the
 * user acts, and after which one the function that has just written is killed; 0 is before the first, and never. Who has not acted by then acts
 * when all is quiet.
 */
async function interrupted(scenario: Scenario, actAt: number, killAt: number): Promise<World> {
  const world = worldOf(scenario);
  let due = actAt === 0;
  let acted = false;
  world.onWrite = (count, work) => {
    due ||= count === actAt;
    if (count === killAt) world.turns.kill(work);
  };
  // In the midst of a function's work, as users do.
  const act = async () => {
    if (!due || acted) return;
    acted = true;
    await scenario.act(world);
  };
  await act();
  await world.settle(act);
  due = true;
  await act();
  await world.settle();
  return world;
}

/**
 * As `interrupted`, with up to three functions at work at a time, also the same one for the same object: `tape` says who is woken,
 * whose call is executed next, who is killed, and when the user, Argo and the garbage collector act.
 */
async function interleaved(scenario: Scenario, rounds: number, tape: readonly number[]): Promise<World> {
  const world = worldOf(scenario);
  for (let round = 0; round < rounds; round += 1) await world.round();
  let works: Work[] = [];
  let acted = false;
  const go = async (value: number) => {
    if (world.turns.waiting > 0 && (works.length === 3 || value % 3 > 0)) return world.turns.take(value >> 2);
    const all = world.deliveries();
    const next = all[(value >> 2) % all.length];
    if (next) works.push(world.begin(next));
  };
  const kill = (value: number) => {
    const work = works[value % works.length];
    if (work) world.turns.kill(work);
  };
  const act = async (value: number) => {
    if (acted || value % 4 > 0) return;
    acted = true;
    await scenario.act(world);
  };
  const rare = [kill, () => world.argo(), () => world.collect(), () => world.pass(), act];
  for (const step of tape) {
    works = works.filter(({ over }) => !over);
    await (rare[step % 16] ?? go)(step >> 4);
  }
  await world.finish();
  if (!acted) await scenario.act(world);
  await world.settle();
  return world;
}

describe.each(scenarios)('$name', { timeout: timeoutOf(120_000) }, (scenario) => {
  const expected = expectedOf(scenario);

  it('reaches the same outcome, whenever the user acts and whichever function is killed', async () => {
    const outcomes: Record<string, unknown> = {};
    const wanted: Record<string, unknown> = {};
    const play = async (actAt: number, killAt: number) => {
      const world = await interrupted(scenario, actAt, killAt);
      const what = `acted after write ${actAt}, killed after ${killAt}`;
      outcomes[what] = outcomeOf(world, scenario);
      wanted[what] = expected;
      return world.writes;
    };
    const last = await play(Number.POSITIVE_INFINITY, 0);
    // After every write in a soak; in npm test after some eight of them, at even and odd places.
    const stride = Math.floor(last / 8 / runs(1)) | 1;
    for (let at = 0; at <= last; at += stride) await play(at, at % 2 === 0 ? at : at + 1);
    expect(outcomes).toEqual(wanted);
  });

  it('reaches the same outcome while functions work at the same time', async () => {
    const tapes = fc.array(fc.nat({ max: 2 ** 20 - 1 }), { minLength: 60, maxLength: 200 });
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 6 }), tapes, async (rounds, tape) => {
        expect(outcomeOf(await interleaved(scenario, rounds, tape), scenario)).toEqual(expected);
      }),
      // Shrinking would take longer than reading what was found.
      { numRuns: runs(3), endOnFailure: true },
    );
  });
});
