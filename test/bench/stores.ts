import { existsSync } from 'node:fs';
import path from 'node:path';
import { mapBounded } from '#shared/base/async';
import { openEtcdStore, type Store } from '#shared/kubernetes/storage';
import { startEtcd } from '../fixtures/etcd/process.ts';
import { databaseNames, hasDatabase, startDatabase } from '../fixtures/kine/database.ts';
import { kineProgram, startKine } from '../fixtures/kine/process.ts';
import { median, progress, report } from './measure/report.ts';
import { runOrder, startSource } from './orders.ts';

const objects = 2_000;
const inFlight = 16;
const objectBytes = 2_000;

/** A store to measure, started anew for each round. */
interface Subject {
  name: string;
  open(): Promise<{ endpoint: string; stop(): Promise<void> }>;
}

type Figures = Record<string, { value: number; unit: string; n: number; less?: boolean }>;

/** `bench stores [--rounds=3] [etcd|PostgreSQL|MariaDB|SQLite …]`: the same requests to etcd and to kine on each database. */
export async function benchStores(words: readonly string[]): Promise<void> {
  const rounds = Number(words.find((word) => word.startsWith('--rounds='))?.slice('--rounds='.length) ?? 3);
  const names = words.filter((word) => !word.startsWith('--'));
  const subjects = (await allSubjects()).filter(({ name }) => names.length === 0 || names.includes(name));
  const source = await startSource();
  const measured = new Map<string, Figures[]>(subjects.map(({ name }) => [name, []]));
  for (let round = 1; round <= rounds; round += 1)
    for (const subject of subjects) {
      const { endpoint, stop } = await subject.open();
      try {
        const figures = await measureStore(endpoint);
        const { seconds } = await runOrder(source, 100, { etcd: endpoint });
        figures.order = { value: seconds, unit: 's', n: 100, less: true };
        measured.get(subject.name)?.push(figures);
        progress(`${subject.name}, round ${round} of ${rounds}: ${JSON.stringify(figures)}`);
      } finally {
        await stop();
      }
    }
  const etcd = measured.get('etcd');
  const middle = (all: readonly Figures[], name: string) =>
    median(all.map((figures) => figures[name]?.value ?? Number.NaN));
  for (const [subject, all] of measured)
    for (const [name, { unit, n, less = false }] of Object.entries(all[0] ?? {})) {
      const figure = { bench: 'stores', case: `${subject}: ${name}`, n, ours: middle(all, name), unit, less };
      report(subject === 'etcd' || !etcd ? figure : { ...figure, theirs: middle(etcd, name) });
    }
  await source.close();
}

async function allSubjects(): Promise<Subject[]> {
  const etcd = path.join(process.env.KUBEBUILDER_ASSETS ?? '', 'etcd');
  const kine = kineProgram();
  const found: Subject[] = [];
  if (existsSync(etcd)) found.push({ name: 'etcd', open: () => startEtcd(etcd) });
  else progress('stores: etcd is left out: KUBEBUILDER_ASSETS names no folder with it');
  for (const name of databaseNames) {
    if (kine === undefined || !hasDatabase(name)) progress(`stores: ${name} or kine (KINE) is missing`);
    else found.push({ name, open: () => openKine(kine, name) });
  }
  return found;
}

async function openKine(program: string, name: (typeof databaseNames)[number]) {
  const database = await startDatabase(name);
  const kine = await startKine(program, database);
  const stop = async () => {
    await kine.stop();
    await database.stop();
  };
  return { endpoint: kine.endpoint, stop };
}

async function measureStore(endpoint: string): Promise<Figures> {
  const store = await openEtcdStore({ endpoints: [endpoint], compactionInterval: 0 });
  try {
    const value = new Uint8Array(objectBytes).fill(120);
    const keys = Array.from({ length: objects }, (_, at) => `/bench/${String(at).padStart(6, '0')}`);
    const create = await rate(keys, (key) => store.create(key, value));
    const get = await rate(keys, (key) => store.get(key));
    const began = performance.now();
    await store.list('/bench/');
    const list = performance.now() - began;
    return {
      create: { value: create, unit: '1/s', n: objects },
      get: { value: get, unit: '1/s', n: objects },
      list: { value: list, unit: 'ms', n: objects, less: true },
      watch: { value: await watchDelay(store), unit: 'ms', n: 100, less: true },
    };
  } finally {
    await store.close();
  }
}

async function rate(keys: readonly string[], call: (key: string) => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await mapBounded(keys, inFlight, AbortSignal.timeout(600_000), call);
  return (keys.length * 1000) / (performance.now() - began);
}

/** From the request of a write to its event, one write after the other: the median in ms. */
async function watchDelay(store: Store): Promise<number> {
  const stop = new AbortController();
  const after = await store.revision();
  const watch = store.watch('/delay/', { after, signal: stop.signal })[Symbol.asyncIterator]();
  const delays: number[] = [];
  for (let at = 0; at < 100; at += 1) {
    const began = performance.now();
    const written = store.create(`/delay/${at}`, new Uint8Array(objectBytes));
    for (let events = 0; events === 0; ) {
      const { value, done } = await watch.next();
      if (done) throw new Error('the watch ended');
      events = value.events.length;
    }
    delays.push(performance.now() - began);
    await written;
  }
  stop.abort();
  await watch.return?.();
  return median(delays);
}
