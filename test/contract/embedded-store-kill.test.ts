import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { randomIntegers, runs, timeoutOf } from '#shared/base/testing';
import { openEmbeddedStore, type Store } from '#shared/kubernetes/storage';
import { eventsAfter } from './store-support.ts';

const writer = fileURLToPath(new URL('./store-writer.ts', import.meta.url));
/** Where a flush takes no time: what a killed process has written survives there as on a disk. */
const memory = '/dev/shm';
let folder = '';

beforeAll(async () => {
  folder = await mkdtemp(join(existsSync(memory) ? memory : tmpdir(), 'arc-kill-'));
});

afterAll(() => rm(folder, { recursive: true }));

/** One line of the writer: a key, with `-` before it for a delete, or `open`. */
interface Acknowledged {
  what: string;
  revision: number;
}

describe('the embedded store of a process that is killed', () => {
  it(
    'has every acknowledged write, and its counter never goes back',
    async () => {
      const random = randomIntegers();
      let newest = 0;
      for (let round = 0; round < runs(12); round += 1) {
        // Every third time around its start and its opening, where it reads and claims the folder.
        const said = await writeUntilKilled(round % 3 === 0 ? random(0, 3) : random(3, 1500));
        expect(said[0]?.revision ?? newest, `round ${round}: the revision at opening`).toBeGreaterThanOrEqual(
          newest,
        );
        const store = await openEmbeddedStore({ folder, historyLimit: 200 });
        try {
          newest = await compare(store, said, newest);
        } finally {
          await store.close();
        }
      }
      expect(newest).toBeGreaterThan(100);
    },
    timeoutOf(60_000),
  );

  it('refuses to be opened while the process lives, naming it', async () => {
    const child = start();
    const lines = createInterface({ input: child.stdout });
    await once(lines, 'line', { signal: AbortSignal.timeout(10_000) });
    const refused = openEmbeddedStore({ folder });
    await expect(refused).rejects.toMatchObject({ code: 'Conflict' });
    await expect(refused).rejects.toThrow(`in use by process ${child.pid}`);
    await kill(child);
    await (await openEmbeddedStore({ folder })).close();
  });
});

function start() {
  return spawn(process.execPath, [writer, folder], { stdio: ['ignore', 'pipe', 'inherit'] });
}

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, 'exit', { signal: AbortSignal.timeout(10_000) });
  child.kill('SIGKILL');
  const [code, signal] = await exited;
  expect({ code, signal }, 'the writer must end by our signal only').toEqual({
    code: null,
    signal: 'SIGKILL',
  });
}

/** Lets the writer run until it has said `lines` lines (0: not even that it is open), and returns all it said. */
async function writeUntilKilled(lines: number): Promise<Acknowledged[]> {
  const child = start();
  const said: Acknowledged[] = [];
  let killed: Promise<void> | undefined;
  if (lines === 0) killed = kill(child);
  for await (const line of createInterface({ input: child.stdout })) {
    const [what = '', revision] = line.split(' ');
    said.push({ what, revision: Number(revision) });
    if (said.length >= lines) killed ??= kill(child);
  }
  expect(killed, 'the writer ended by itself').toBeDefined();
  await killed;
  return said;
}

/** Checks the store against what was acknowledged; returns its revision. */
async function compare(store: Store, said: Acknowledged[], before: number): Promise<number> {
  const revision = await store.revision();
  expect(revision).toBeGreaterThanOrEqual(Math.max(before, ...said.map((line) => line.revision)));
  const lastOf = new Map(
    said.filter(({ what }) => what !== 'open').map((line) => [line.what.replace(/^-/, ''), line]),
  );
  for (const [key, last] of lastOf) {
    const { item } = await store.get(key);
    // One write after the last acknowledged one may have reached the disk, and no more: each lane waits.
    if (item?.revision === last.revision) expect(last.what).toBe(key);
    else if (item) expect(item.revision).toBeGreaterThan(last.revision);
    else expect(last.what.startsWith('-') || (await wasDeletedAfter(store, key, last.revision))).toBe(true);
    if (item) expect(Buffer.from(item.value).toString()).toMatch(new RegExp(`^${key} \\d+ \\.*$`));
  }
  const { items } = await store.list('/');
  expect(items.every((item) => item.revision <= revision)).toBe(true);
  const kept = Math.min(200, revision - 1);
  const events = await eventsAfter(store, '/', revision - kept, kept);
  expect(events.map((event) => event.revision)).toEqual(
    Array.from({ length: kept }, (_, at) => revision - kept + 1 + at),
  );
  return revision;
}

async function wasDeletedAfter(store: Store, key: string, revision: number): Promise<boolean> {
  const newest = await store.revision();
  const events = await eventsAfter(store, '/', revision, newest - revision);
  return events.some((event) => event.type === 'delete' && event.key === key);
}
