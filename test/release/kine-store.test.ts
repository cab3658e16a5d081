import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { cacheStore, openEtcdStore, type Store } from '#shared/kubernetes/storage';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { compare, startLanes } from '../cluster/etcd-writers.ts';
import { describeStore, type StoreUnderTest } from '../contract/store.ts';
import {
  type Database,
  databaseNames,
  hasDatabase,
  postgresFolder,
  startDatabase,
} from '../fixtures/kine/database.ts';
import { startPostgres } from '../fixtures/kine/postgres.ts';
import { type KineProcess, kineProgram, startKine } from '../fixtures/kine/process.ts';

vi.setConfig({ testTimeout: 240_000 });

const kine = kineProgram();
if (!kine) console.log('skipped: the tests of kine need KINE, a folder made by .ci/kine/build.sh');

for (const name of databaseNames)
  describe.skipIf(!kine || !hasDatabase(name))(`kine on ${name}`, () => {
    let database: Database;
    beforeAll(async () => {
      database = await startDatabase(name);
    });
    afterAll(() => database?.stop());

    /** Every store has a kine and a database of its own. */
    const open = (openAt: (endpoint: string) => Promise<Store>) => async (): Promise<StoreUnderTest> => {
      const process = await startKine(kine ?? '', database);
      let store = await openAt(process.endpoint);
      return {
        store,
        async reopen() {
          await store.close();
          store = await openAt(process.endpoint);
          return store;
        },
        async dispose() {
          await store.close();
          await process.stop();
        },
      };
    };

    const keys = name === 'MariaDB' ? 'ascii' : 'any';
    it('loses and repeats nothing when kine is killed and started again', () =>
      withKine(database, async (running, store) => {
        await compareWhile(store, async (more) => {
          for (let kills = 1; kills <= 3; kills += 1) {
            await more(100);
            await running.restart();
          }
        });
      }));

    it.skipIf(name === 'SQLite')(
      'loses and repeats nothing when the database is killed and started again',
      () =>
        withKine(database, async (_, store) => {
          await compareWhile(store, async (more) => {
            for (let kills = 1; kills <= 3; kills += 1) {
              await more(100);
              await database.kill?.();
              await database.restart?.();
            }
          });
        }),
    );

    describeStore('the store', open(openPlain), keys);
    describeStore('the store behind its cache', open(openCached), keys);
  });

describe.skipIf(!kine || !postgresFolder)('kine on PostgreSQL with a synchronous standby', () => {
  it('loses and repeats nothing when the primary dies and the standby takes over', async () => {
    const primary = await startPostgres(postgresFolder ?? '');
    let standby: Awaited<ReturnType<typeof primary.startStandby>> | undefined;
    try {
      const url = await primary.fresh();
      const follower = await primary.startStandby();
      standby = follower;
      // As libpq: kine connects to whichever of them takes writes.
      const { username, password, pathname } = new URL(url);
      const hosts = `host=127.0.0.1,127.0.0.1&port=${primary.port},${follower.port}`;
      const both = `postgres://${username}:${password}@${pathname}?${hosts}&target_session_attrs=read-write&sslmode=disable`;
      await withKine(
        { fresh: () => both, flags: primary.flags, stop: async () => undefined },
        async (_, store) => {
          await compareWhile(store, async (more) => {
            await more(200);
            await primary.kill();
            await follower.promote();
            await more(200);
          });
        },
      );
    } finally {
      await standby?.stop();
      await primary.stop();
    }
  });
});

/** A kine with a new database, and a store in it. */
async function withKine(
  database: Database,
  use: (running: KineProcess, store: Store) => Promise<void>,
): Promise<void> {
  const running = await startKine(kine ?? '', database);
  try {
    const store = await openPlain(running.endpoint);
    await use(running, store).finally(() => store.close());
  } finally {
    await running.stop();
  }
}

/** Fails unless watches and lists show the writes that were acknowledged while `interrupt` runs, and perhaps unknown ones. */
async function compareWhile(
  store: Store,
  interrupt: (more: (writes: number) => Promise<void>) => Promise<void>,
): Promise<void> {
  const lanes = await startLanes(store, 8);
  const watching = lanes.follow('/lane/');
  const quiet = lanes.follow('/quiet/');
  await interrupt(lanes.more);
  await lanes.more(100);
  const items = await lanes.finish();
  const { outcomes } = lanes;
  compare(outcomes, await watching, items);
  expect(await quiet).toEqual([]);
  console.log(`${outcomes.acknowledged.size} writes acknowledged, ${outcomes.unknown.size} unknown`);
}

function openPlain(endpoint: string): Promise<Store> {
  return openEtcdStore({ endpoints: [endpoint], prefix: '/arc', progressInterval: 50 });
}

async function openCached(endpoint: string): Promise<Store> {
  const store = cacheStore(await openPlain(endpoint), { prefix: '/', progressInterval: 50 });
  await eventually('the cache to be loaded', 10_000, () => expect(store.synced).toBe(true));
  return store;
}
