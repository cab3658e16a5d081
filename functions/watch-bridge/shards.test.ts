import { describe, expect, it } from 'vitest';
import { type ArtifactWorkflow, labels, type Shard, shardOf, type Waking, wholeShard } from '#shared/domain';
import type { KubeObject } from '#shared/meta';
import { FakeClock } from '../../shared/async/testing/fake-clock.ts';
import { artifactWorkflow, ociType, workflowOf } from '../../shared/domain/testing/objects.ts';
import { type Change, createKnownObjects, type KnownObjects } from '../../shared/kube/known-objects.ts';
import { fc, runs, timeoutOf } from '../../shared/testing/index.ts';
import { ObjectTable } from './objects/object-table.ts';
import { histories, type Step, World } from './testing/history.ts';
import { Waker } from './waker.ts';
import { isForeign, isOutOfTheWay, keptOf, withForeignApart } from './watches/foreign.ts';
import { trimmed } from './watches/watches.ts';

/** What one shard's bridge makes of the states that its watches show it. */
class Observer {
  readonly sent: Waking[] = [];
  readonly shard: Shard;
  readonly #waker: Waker;
  readonly #objects = new ObjectTable(1);
  readonly #known = new Map<string, KnownObjects<KubeObject, KubeObject>>();

  /** @param present what its first lists hold */
  constructor(shard: Shard, clock: FakeClock, present: Iterable<KubeObject>) {
    this.shard = shard;
    this.#waker = new Waker({
      objects: this.#objects,
      clock,
      random: () => 0.5,
      shard,
      send: (waking) => this.sent.push(waking),
      forget: () => undefined,
      foundWork: () => undefined,
    });
    for (const object of present) this.see(object, false);
    void this.#waker.synced();
  }

  see(object: KubeObject, gone: boolean): void {
    const known = this.#knownOf(object.kind);
    for (const change of gone ? known.remove(object) : known.put(object)) this.#take(object.kind, change);
  }

  /** Lists all kinds again after a gap of the watches. */
  relist(present: Iterable<KubeObject>): void {
    const seen = new Map<string, Set<string>>();
    for (const object of present) {
      const keys = seen.get(object.kind) ?? new Set();
      seen.set(object.kind, keys.add(this.#knownOf(object.kind).keyOf(object)));
      this.see(object, false);
    }
    for (const [kind, known] of this.#known)
      for (const change of known.retain(seen.get(kind) ?? new Set())) if (change) this.#take(kind, change);
  }

  #take(kind: string, { before, after }: Change<KubeObject>): void {
    this.#waker.change({ kind, before, after: after && trimmed(after) });
  }

  close(): void {
    this.#waker.close();
  }

  /** How many objects of a kind are kept. */
  keeps(kind: string): number {
    return this.#knownOf(kind).size;
  }

  #knownOf(kind: string): KnownObjects<KubeObject, KubeObject> {
    const found = this.#known.get(kind);
    if (found !== undefined) return found;
    const namespaced = !kind.startsWith('Cluster');
    const made = createKnownObjects<KubeObject, KubeObject>(
      { apiVersion: '', kind, plural: '', namespaced },
      (object) => keptOf(trimmed(object), this.shard),
      withForeignApart(this.#objects.ofKind({ kind, namespaced }), this.shard),
    );
    this.#known.set(kind, made);
    return made;
  }
}

const shardsOf = (of: number): Shard[] => Array.from({ length: of }, (_, index) => ({ index, of }));

const minute = 60_000;
const isOfTime = (reason: string) => reason === 'resync' || reason === 'due';

/** The same history before one bridge for all, and before a set of shards that may change. */
class Comparison {
  readonly clock = new FakeClock();
  whole: Observer;
  shards: Observer[] = [];
  readonly #world: World;
  #wasOutOfTheWay = false;
  #isBlind = false;

  constructor(of: number) {
    this.#world = new World((object, gone, before) => {
      const isWorkflow = before?.kind === 'ArtifactWorkflow';
      this.#wasOutOfTheWay = isWorkflow && isOutOfTheWay(before as unknown as ArtifactWorkflow);
      if (!this.#isBlind) for (const one of [this.whole, ...this.shards]) one?.see(object, gone);
    });
    this.whole = this.#observer(wholeShard);
    this.shards = shardsOf(of).map((shard) => this.#observer(shard));
  }

  /** Another process begins to lead a shard. */
  #observer(shard: Shard): Observer {
    return new Observer(shard, this.clock, this.#world.objects.values());
  }

  begin(of: number): void {
    this.shards.push(...shardsOf(of).map((shard) => this.#observer(shard)));
  }

  /** What one bridge and a set of shards announce that begin at the same time. */
  beginAnew(of: number): ReturnType<Comparison['sent']> {
    this.close();
    this.whole = this.#observer(wholeShard);
    this.shards = shardsOf(of).map((shard) => this.#observer(shard));
    return this.sent('time');
  }

  end(of: number): void {
    for (const one of this.shards) if (one.shard.of === of) one.close();
    this.shards = this.shards.filter(({ shard }) => shard.of !== of);
  }

  take(step: Step): void {
    if (step.what !== 'hand over') this.#world.take(step);
    else {
      const at = step.which % this.shards.length;
      const before = this.shards[at];
      if (before === undefined) return;
      before.close();
      this.shards[at] = this.#observer(before.shard);
    }
    this.clock.advance(step.how * 50);
  }

  /** The steps are taken while all watches have a gap. */
  takeBlind(steps: readonly Step[]): void {
    this.#isBlind = true;
    for (const step of steps) if (step.what !== 'hand over') this.#world.take(step);
    this.#isBlind = false;
    for (const one of [this.whole, ...this.shards]) one.relist(this.#world.objects.values());
  }

  /** What was sent since the last call, by the one and by the set: of changes alone, or of the clock alone. */
  sent(cause: 'change' | 'time'): { whole: string[]; union: string[] } {
    const take = (one: Observer) => {
      const wakes = one.sent.splice(0).filter(({ reason }) => isOfTime(reason) === (cause === 'time'));
      for (const { target, reason, partitionKey } of wakes)
        if (!(target.kind === 'Endpoint' && reason === 'resync'))
          expect(shardOf(partitionKey, one.shard.of)).toBe(one.shard.index);
      return wakes.map(
        ({ target: { kind, uid }, reason, partitionKey: root }) => `${kind} ${uid} ${reason} ${root}`,
      );
    };
    return { whole: take(this.whole).toSorted(), union: this.shards.flatMap(take).toSorted() };
  }

  /**
   * False for wakes that do nothing, which some shards leave out and others add: for a slot after a change of an ArtifactWorkflow that was out
   * of the way already, and of one made by hand that has gone, for the Workflow that it left behind.
   */
  readonly useful = (wake: string): boolean => {
    const [kind, uid, reason] = wake.split(' ');
    if (reason === 'slot') return !this.#wasOutOfTheWay;
    const exists = this.#world.objects.values().some(({ metadata }) => metadata.uid === uid);
    return exists || kind !== 'ArtifactWorkflow' || !uid?.startsWith('by-hand');
  };

  close(): void {
    for (const one of [this.whole, ...this.shards]) one.close();
  }
}

/** With these seeds the same everywhere. */
const seeded = [1, 2, 3, 4].map((seed) => ({ seed, numRuns: runs(30) }));

describe('several shards', () => {
  it.each(seeded)(
    'wake together what one bridge wakes, for every change, whoever leads when (seed $seed)',
    (options) => {
      let wakes = 0;
      fc.assert(
        fc.property(histories, fc.integer({ min: 2, max: 5 }), (history, of) => {
          const comparison = new Comparison(of);
          comparison.sent('change');
          for (const step of history) wakes += compare(comparison, step);
          comparison.close();
        }),
        options,
      );
      expect(wakes).toBeGreaterThan(1_000);
    },
    timeoutOf(60_000),
  );

  it(
    'lose nothing when their number changes, from one to three to two',
    () => {
      fc.assert(
        fc.property(histories, histories, histories, (before, between, after) => {
          const comparison = new Comparison(1);
          for (const step of before) comparison.take(step);
          comparison.sent('change');
          for (const [from, to, steps] of [
            [1, 3, between],
            [3, 2, after],
          ] as const) {
            comparison.begin(to);
            // While both run, each change is announced by the old ones and by the new ones.
            for (const step of steps.slice(0, 20)) {
              comparison.take(step);
              const { whole, union } = comparison.sent('change');
              const { useful } = comparison;
              expect([...new Set(union.filter(useful))]).toEqual([...new Set(whole.filter(useful))]);
            }
            comparison.end(from);
            for (const step of steps.slice(20)) compare(comparison, step);
          }
          comparison.close();
        }),
        { numRuns: runs(30) },
      );
    },
    timeoutOf(60_000),
  );

  it('find together what one bridge finds after a gap of the watches', () => {
    fc.assert(
      fc.property(
        histories,
        fc.array(histories, { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 2, max: 5 }),
        (history, gaps, of) => {
          const comparison = new Comparison(of);
          for (const step of history) comparison.take(step);
          for (const gap of gaps) {
            comparison.sent('change');
            comparison.takeBlind(gap.slice(0, 15));
            const { whole, union } = comparison.sent('change');
            // What one freed that came and ended meanwhile is found by a resync.
            const isCertain = (wake: string) => comparison.useful(wake) && !wake.includes(' slot ');
            expect(union.filter(isCertain)).toEqual(whole.filter(isCertain));
            for (const step of gap.slice(15, 30)) compare(comparison, step);
          }
          comparison.close();
        },
      ),
      { numRuns: runs(30) },
    );
  });

  it('find that one of another shard has gone while the watch had a gap, for whom its place is free', () => {
    const one = (name: string, phase: 'Running' | 'Pending') =>
      artifactWorkflow(name, {
        status: { phase },
        metadata: { name, uid: `uid-${name}`, labels: { [labels.target]: 'place' }, ownerReferences: [] },
      }) as unknown as KubeObject;
    const first = one('first', 'Running');
    const of = 8;
    const shard = { index: shardOf('uid-first', of), of };
    const others = Array.from({ length: 20 }, (_, at) => one(`waiting-${at}`, 'Pending'));
    const next = others.find((other) => isForeign(other, shard));
    if (next === undefined) throw new Error('20 are not in one shard');
    const observer = new Observer({ index: shardOf(next.metadata.uid ?? '', of), of }, new FakeClock(), [
      first,
      next,
    ]);
    observer.sent.length = 0;
    observer.relist([next]);
    expect(observer.sent.map(({ target, reason }) => `${target.name} ${reason}`)).toEqual([
      `${next.metadata.name} slot`,
    ]);
    observer.close();
  });

  it('announce together, when they begin, what one bridge announces when it begins', () => {
    fc.assert(
      fc.property(histories, fc.integer({ min: 2, max: 5 }), (history, of) => {
        const comparison = new Comparison(1);
        for (const step of history) comparison.take(step);
        const begun = comparison.beginAnew(of);
        expect(begun.union).toEqual(begun.whole);
        comparison.close();
      }),
      { numRuns: runs(30) },
    );
  });

  it(
    'repeat together what one bridge repeats, and look at the same credentials',
    () => {
      fc.assert(
        fc.property(histories, fc.integer({ min: 2, max: 5 }), (history, of) => {
          const comparison = new Comparison(of);
          for (const step of history) comparison.take(step);
          comparison.clock.advance(10 * minute);
          comparison.sent('time');
          comparison.clock.advance(5 * minute);
          const { whole, union } = comparison.sent('time');
          expect([...new Set(union)]).toEqual([...new Set(whole)]);
          comparison.close();
        }),
        { numRuns: runs(30) },
      );
    },
    timeoutOf(60_000),
  );

  it('keep of the objects of others only ArtifactWorkflows that may hold up theirs', () => {
    const comparison = new Comparison(3);
    const [first] = comparison.shards;
    const kept = (kind: string) => comparison.shards.map((one) => one.keeps(kind));
    const sum = (counts: number[]) => counts.reduce((total, count) => total + count, 0);
    for (let which = 0; which < 6; which += 1) {
      comparison.take({ what: 'order', which, how: 0 });
      for (let how = 0; how < 4; how += 1) comparison.take({ what: 'workflow', which, how });
    }
    for (let which = 0; which < 24; which += 1) comparison.take({ what: 'run', which, how: 1 });
    expect(sum(kept('Order'))).toBe(6);
    expect(sum(kept('Workflow')) + sum(kept('CronWorkflow'))).toBe(24);
    expect(first?.keeps('ArtifactWorkflow')).toBe(24);
    for (let which = 0; which < 24; which += 1) comparison.take({ what: 'phase', which, how: 2 });
    expect(sum(kept('ArtifactWorkflow'))).toBe(24);
    comparison.close();
  });
});

describe('isForeign', () => {
  const child = artifactWorkflow('child');
  const run = workflowOf(child, 'run');
  const labelled = { ...run, metadata: { ...run.metadata, labels: { [labels.order]: 'uid-order' } } };
  const own: Shard = { index: shardOf('uid-order', 8), of: 8 };
  const other: Shard = { index: (own.index + 1) % 8, of: 8 };
  it.each<[string, unknown, boolean]>([
    ['an ArtifactWorkflow', child, true],
    ['a Workflow with the label of an Order', labelled, true],
    ['a Workflow without, which may be of any', run, false],
    ['a type', ociType(), false],
  ])('is true in one other shard for %s: %s', (_, object, isTrue) => {
    expect(isForeign(object as KubeObject, own)).toBe(false);
    expect(isForeign(object as KubeObject, other)).toBe(isTrue);
    expect(keptOf(object as KubeObject, own)).toBe(object);
  });
});

/** Takes a step and compares what it wakes. Returns how many wakes that are. */
function compare(comparison: Comparison, step: Step): number {
  comparison.take(step);
  const { whole, union } = comparison.sent('change');
  const { useful } = comparison;
  expect(union.filter(useful), JSON.stringify(step)).toEqual(whole.filter(useful));
  return whole.length;
}
