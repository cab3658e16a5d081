import { expect, it } from 'vitest';
import { fc, runs } from '#shared/base/testing';
import { patience } from '../../../../test/contract/store-support.ts';
import { FakeEtcd } from '../etcd/testing/fake-etcd.ts';
import type { Store } from '../interface/store.ts';
import { openCached } from './testing/cached-etcd.ts';

/** Writes of one revision, a fault, or a watch that is opened after all that happened before. */
type Action = { put: string[] } | 'drop' | 'compact' | 'watch';

const keys = fc.uniqueArray(fc.constantFrom('/w/a', '/w/b', '/w/c', '/x'), { minLength: 1, maxLength: 3 });
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ put: keys }) },
  { weight: 2, arbitrary: fc.constant('watch' as const) },
  { weight: 1, arbitrary: fc.constantFrom('drop' as const, 'compact' as const) },
);
const actions = fc.array(action, { minLength: 5, maxLength: 40, size: 'max' });

/** A change of one key under the watched prefix. */
interface Happened {
  revision: number;
  key: string;
}

it('a watch of the cached store, opened anywhere, receives exactly the events that follow, through lost connections and compactions', () =>
  fc.assert(
    fc.asyncProperty(actions, fc.integer({ min: 1, max: 4 }), async (all, messageEvents) => {
      const etcd = new FakeEtcd();
      etcd.messageEvents = messageEvents;
      const store = await openCached(etcd, { prefix: '/w/', historyLimit: 8, onReload: () => undefined });
      const { happened, watches } = await act(etcd, store, all);
      for (const { after, observed } of watches) compare(await observed, happened, after);
      const { items } = await store.list('/w/');
      const newest = new Map(happened.map(({ key, revision }) => [key, revision]));
      expect(new Map(items.map(({ key, revision }) => [key, revision]))).toEqual(newest);
      await store.close();
    }),
    { numRuns: runs(40) },
  ));

async function act(etcd: FakeEtcd, store: Store, all: Action[]) {
  const happened: Happened[] = [];
  const watches: { after: number; observed: Promise<Observed> }[] = [];
  let revision = await store.revision();
  for (const one of [...all, { put: ['/w/end'] }]) {
    if (one === 'drop') etcd.dropConnections();
    else if (one === 'compact')
      await etcd.compact({ revision }).catch(() => undefined); // is done already
    else if (one === 'watch') watches.push({ after: revision, observed: follow(store, revision) });
    else {
      revision = etcd.putTogether(Object.fromEntries(one.put.map((key) => [key, 'x'])));
      for (const key of one.put) if (key.startsWith('/w/')) happened.push({ revision, key });
    }
  }
  return { happened, watches };
}

interface Observed {
  events: Happened[];
  expired: boolean;
}

/** The events of a watch, up to the write that ends every history, or until it has to list again. */
async function follow(store: Store, after: number): Promise<Observed> {
  const events: Happened[] = [];
  try {
    for await (const batch of store.watch('/w/', { after, signal: patience() })) {
      events.push(...batch.events.map(({ revision, key }) => ({ revision, key })));
      if (events.at(-1)?.key === '/w/end') break;
    }
    return { events, expired: false };
  } catch (caught) {
    expect(caught).toMatchObject({ code: 'Expired' });
    return { events, expired: true };
  }
}

/** A watch that has to list again received every event up to that point. */
function compare({ events, expired }: Observed, happened: readonly Happened[], after: number): void {
  const following = happened.filter(({ revision }) => revision > after);
  expect(events).toEqual(expired ? following.slice(0, events.length) : following);
}
