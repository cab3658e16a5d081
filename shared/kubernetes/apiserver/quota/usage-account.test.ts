import { expect, it } from 'vitest';
import { fc, runs } from '#shared/base/testing';
import type { StoredItem, StoreEvent } from '#shared/kubernetes/storage';
import { type ResourceUsage, UsageAccount } from './usage-account.ts';

const load = async () => undefined;
const team = '/registry/g/orders/team/';
const item = (name: string, bytes: number, revision: number): StoredItem => ({
  key: `${team}${name}`,
  value: new Uint8Array(bytes),
  revision,
});
const put = (after: StoredItem, previous?: StoredItem): StoreEvent => ({ type: 'put', ...after, previous });

it('counts objects and bytes of each kind and namespace', async () => {
  const account = new UsageAccount();
  const other = { ...item('c', 7, 3), key: '/registry/g/endpoints/team/c' };
  await account.load({ items: [item('a', 3, 1), item('b', 4, 2), other], revision: 3, remaining: 0 }, load);
  expect([...account.entries()]).toEqual([
    [team, { objects: 2, bytes: 7 }],
    ['/registry/g/endpoints/team/', { objects: 1, bytes: 7 }],
  ]);
});

it('drops empty collections', async () => {
  const account = new UsageAccount();
  account.apply({ events: [put(item('a', 3, 1))], revision: 1 });
  const previous = item('a', 3, 1);
  account.apply({ events: [{ type: 'delete', key: previous.key, revision: 2, previous }], revision: 2 });
  expect([...account.entries()]).toEqual([]);
});

it('counts a write of its own once, whether its event or its answer comes first', () => {
  for (const eventFirst of [true, false]) {
    const account = new UsageAccount();
    const claim = account.claim(team, { objects: 1, bytes: 3 });
    expect([account.stored(team).objects, account.inFlight(team).objects]).toEqual([0, 1]);
    const event = () => account.apply({ events: [put(item('a', 3, 5))], revision: 5 });
    if (eventFirst) event();
    claim.settle(5);
    expect([account.stored(team), account.inFlight(team).objects]).toEqual([{ objects: 1, bytes: 3 }, 0]);
    if (!eventFirst) event();
    expect(account.stored(team)).toEqual({ objects: 1, bytes: 3 });
    expect(account.behind).toBe(0);
  }
});

it('counts a write that stored nothing no more', () => {
  const account = new UsageAccount();
  account.claim(team, { objects: 1, bytes: 3 }).settle(undefined);
  expect([account.stored(team).objects, account.inFlight(team).objects]).toEqual([0, 0]);
});

const collectionOf = (key: string) => key.slice(0, key.lastIndexOf('/') + 1);

/** A store, its events on their way to an account, and the answers on their way to those who write. */
class History {
  readonly account = new UsageAccount();
  readonly #stored = new Map<string, StoredItem>();
  readonly #events: StoreEvent[] = [];
  readonly #answers: (() => void)[] = [];
  #revision = 0;

  write(index: number, bytes: number): void {
    const key = keyOf(index);
    const previous = this.#stored.get(key);
    this.#revision += 1;
    const revision = this.#revision;
    const after = { key, value: new Uint8Array(bytes), revision };
    this.#stored.set(key, after);
    this.#events.push(put(after, previous));
    const growth = { objects: previous ? 0 : 1, bytes: bytes - (previous?.value.byteLength ?? 0) };
    if (previous && growth.bytes <= 0) return;
    const claim = this.account.claim(collectionOf(key), growth);
    this.#answers.push(() => claim.settle(revision));
  }

  remove(index: number): void {
    const key = keyOf(index);
    const previous = this.#stored.get(key);
    if (!previous || !this.#stored.delete(key)) return;
    this.#revision += 1;
    this.#events.push({ type: 'delete', key, revision: this.#revision, previous });
  }

  deliver(count: number): void {
    const events = this.#events.splice(0, count);
    const last = events.at(-1);
    if (last) this.account.apply({ events, revision: last.revision });
  }

  answer(count: number): void {
    for (const answer of this.#answers.splice(0, count)) answer();
  }

  async relist(): Promise<void> {
    this.#events.length = 0;
    const items = [...this.#stored.values()];
    await this.account.load({ items, revision: this.#revision, remaining: 0 }, load);
  }

  recount(): Map<string, ResourceUsage> {
    const groups = Map.groupBy(this.#stored.values(), ({ key }) => collectionOf(key));
    const useOf = (items: StoredItem[]) => ({
      objects: items.length,
      bytes: items.reduce((sum, { value }) => sum + value.byteLength, 0),
    });
    return new Map([...groups].map(([collection, items]) => [collection, useOf(items)]));
  }
}

const keyOf = (index: number) =>
  `/registry/g/${index % 2 ? 'orders' : 'endpoints'}/team-${index % 3}/${index}`;

const few = fc.integer({ min: 1, max: 5 });
const write = fc.tuple(fc.nat(11), fc.nat(50)).map(
  ([index, bytes]) =>
    async (history: History) =>
      history.write(index, bytes),
);
const remove = fc.nat(11).map((index) => async (history: History) => history.remove(index));
const deliver = few.map((count) => async (history: History) => history.deliver(count));
const answer = few.map((count) => async (history: History) => history.answer(count));
const relist = fc.constant(async (history: History) => history.relist());
const step = fc.oneof(
  { weight: 8, arbitrary: write },
  { weight: 3, arbitrary: remove },
  { weight: 3, arbitrary: deliver },
  { weight: 2, arbitrary: answer },
  { weight: 1, arbitrary: relist },
);

it('equals a recount after any writes, with late events, late responses and relists', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 80 }), async (steps) => {
      const history = new History();
      for (const take of steps) await take(history);
      history.answer(Number.POSITIVE_INFINITY);
      history.deliver(Number.POSITIVE_INFINITY);
      const { account } = history;
      const counted = history.recount();
      expect(new Map(account.entries())).toEqual(counted);
      for (const [collection, use] of counted) expect(account.stored(collection)).toEqual(use);
      expect(account.behind).toBe(0);
    }),
    { numRuns: runs(300) },
  );
});
