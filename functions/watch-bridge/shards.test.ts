import { describe, expect, it } from 'vitest';
import { fc, runs } from '#shared/base/testing';
import { type Duty, isDeleting, isFinished, isInShard, type Shard, wholeShard } from '#shared/domain';
import { FakeClock } from '../../shared/base/async/testing/fake-clock.ts';
import { Dispatcher } from './duties/dispatcher.ts';
import { changeOf } from './duties/neighbours.ts';
import { dutiesIn } from './testing/duties-in.ts';
import { histories, World } from './testing/history.ts';
import type { Observed } from './view/kept.ts';

const now = new Date('2026-01-02T03:30:00Z');
const outbox = { offer: () => undefined, forget: () => undefined };

function observer(shard: Shard): Dispatcher {
  return new Dispatcher({ clock: new FakeClock(), random: () => 0.5, shard, outbox });
}

/** Without the looks at the Secrets of Endpoints: each shard sees to those that its own Orders use. */
function workIn({ view }: Dispatcher, isOwn: (object: Observed) => boolean) {
  const found = Object.entries(dutiesIn(view, now, isOwn));
  const isLook = (duty: Duty) => duty.step === 'track-credentials' && 'look' in duty;
  return found.map(([object, all]) => [object, all.filter((duty) => !isLook(duty))]);
}

describe('shards', () => {
  it('know the same duties of their objects as one bridge that knows everything', () => {
    fc.assert(
      fc.property(histories, fc.integer({ min: 2, max: 5 }), (steps, of) => {
        const whole = observer(wholeShard);
        const shards = Array.from({ length: of }, (_, index) => ({
          shard: { index, of },
          one: observer({ index, of }),
        }));
        const world = new World((object, gone, before) => {
          for (const one of [whole, ...shards.map((each) => each.one)]) {
            const kept = (state: Observed | undefined) => state && one.keep(state);
            const change = changeOf(kept(before), gone ? undefined : kept(object));
            if (change) one.change(change);
          }
        });
        for (const step of steps) world.take(step);
        for (const { shard, one } of shards) {
          const isOwn = (object: Observed) => isInShard(object, shard);
          expect(workIn(one, isOwn)).toEqual(workIn(whole, isOwn));
        }
      }),
      { numRuns: runs(40) },
    );
  });

  it('keep of the ArtifactWorkflows of others those that may hold up their own, and of Orders none', () => {
    fc.assert(
      fc.property(histories, (steps) => {
        const shard = { index: 0, of: 3 };
        const one = observer(shard);
        const world = new World((object, gone, before) => {
          const kept = (state: Observed | undefined) => state && one.keep(state);
          const change = changeOf(kept(before), gone ? undefined : kept(object));
          if (change) one.change(change);
        });
        for (const step of steps) world.take(step);
        const foreign = [...one.view.objects()].filter(
          (object) =>
            object.kind !== 'Endpoint' && !object.kind.includes('Type') && !isInShard(object, shard),
        );
        for (const object of foreign)
          if (object.kind === 'ArtifactWorkflow')
            expect(!isFinished(object) || isDeleting(object)).toBe(true);
        expect(foreign.filter(({ kind }) => kind === 'Order')).toEqual([]);
      }),
      { numRuns: runs(20) },
    );
  });
});
