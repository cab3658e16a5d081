import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fc, randomIntegers, runs, timeoutOf } from '#shared/base/testing';
import { openEmbeddedStore } from '#shared/kubernetes/storage';
import type { Opened } from './store-opener.ts';
import { written } from './store-support.ts';

const opener = fileURLToPath(new URL('./store-opener.ts', import.meta.url));
/** Where a flush takes no time: hundreds of stores are opened here, and none has to survive. */
const memory = '/dev/shm';
let root = '';
let sound = '';
let data: Buffer;
let whole: Opened;
/** Every state that an item had, as `key revision sha256`. */
const states = new Set<string>();
let examiner: { child: ChildProcess; lines: Interface; ended: Promise<never> };

beforeAll(async () => {
  root = await mkdtemp(join(existsSync(memory) ? memory : tmpdir(), 'arc-damage-'));
  sound = join(root, 'sound');
  await fill(sound);
  data = readFileSync(join(sound, 'data.mdb'));
  whole = await examine(copy());
  expect(whole.items?.length).toBeGreaterThan(50);
});

afterAll(async () => {
  examiner?.child.stdin?.end();
  await rm(root, { recursive: true });
});

describe('a damaged embedded store', () => {
  it(
    'whose file ends too early is refused, and what is left of it is saved',
    async () => {
      const pages = data.length / 8192;
      const random = randomIntegers();
      const places = [0, 1, 4096, 8191, 8192, 16_383, 16_384, 3 * 8192 + 100];
      for (let count = 0; count < runs(20); count += 1)
        places.push(random(2, pages) * 8192, random(16_384, data.length - 1));
      for (const bytes of places) {
        const folder = copy();
        truncateSync(join(folder, 'data.mdb'), bytes);
        const opened = await examine(folder);
        // What was cut off may have been free pages only.
        if (opened.items) expect(opened, `cut to ${bytes}`).toEqual(whole);
        else expectRefused(opened, `cut to ${bytes}`);
      }
    },
    timeoutOf(120_000),
  );

  it('whose file is missing or empty is refused, once something was written', async () => {
    const missing = copy();
    rmSync(join(missing, 'data.mdb'));
    const opened = await examine(missing);
    expect(opened.refusal?.message).toMatch(
      /data\.mdb is missing, and writes up to revision \d+ were in it\. 0 of/,
    );
    const emptied = copy();
    truncateSync(join(emptied, 'data.mdb'), 0);
    expect((await examine(emptied)).refusal?.message).toMatch(/data\.mdb has 0 bytes, and writes up to/);
  });

  it('that is an older copy of its file, or that of another store, is refused', async () => {
    const older = copy();
    const store = await openEmbeddedStore({ folder: older });
    const revision = await written(store.create('/later', new Uint8Array([1])));
    await store.close();
    writeFileSync(join(older, 'data.mdb'), data);
    expect((await examine(older)).refusal?.message).toContain(
      `writes up to revision ${revision} were acknowledged`,
    );
    const other = join(root, 'other');
    await fill(other);
    writeFileSync(join(other, 'data.mdb'), data);
    expect((await examine(other)).refusal?.message).toContain('belongs to another store');
  });

  it(
    'with any byte changed gives the right values or says what is wrong',
    async () => {
      const at = fc.oneof(
        fc.nat({ max: 1 }).chain((page) => fc.nat({ max: 167 }).map((byte) => page * 8192 + byte)),
        fc
          .nat({ max: data.length / 8192 - 1 })
          .chain((page) => fc.nat({ max: 200 }).map((byte) => page * 8192 + byte)),
        fc.nat({ max: data.length - 1 }),
      );
      await fc.assert(
        fc.asyncProperty(at, fc.integer({ min: 1, max: 255 }), async (byte, flips) => {
          const folder = copy();
          const changed = Buffer.from(data);
          changed.writeUInt8((changed[byte] ?? 0) ^ flips, byte);
          writeFileSync(join(folder, 'data.mdb'), changed);
          const opened = await examine(folder);
          if (!opened.items) {
            expectRefused(opened, `byte ${byte} changed`);
            expect(opened.saved?.length).toBeGreaterThan((whole.items?.length ?? 0) / 3);
            return;
          }
          expect(opened.items).toEqual(whole.items);
          for (const [index, state] of (opened.past ?? []).entries())
            if (state !== whole.past?.[index]) expect(state).toMatch(/damaged/);
        }),
        { numRuns: runs(60) },
      );
    },
    timeoutOf(120_000),
  );

  it('whose sentinel is changed is refused, or opens as it was', async () => {
    const text = readFileSync(join(sound, 'sentinel'));
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: text.length - 1 }),
        fc.integer({ min: 1, max: 255 }),
        async (byte, flips) => {
          const folder = copy();
          const changed = Buffer.from(text);
          changed.writeUInt8((changed[byte] ?? 0) ^ flips, byte);
          writeFileSync(join(folder, 'sentinel'), changed);
          const opened = await examine(folder);
          if (opened.items) expect(opened).toEqual(whole);
          else
            expect(opened).toMatchObject({
              saved: whole.items,
              refusal: { message: expect.stringContaining('sentinel') },
            });
        },
      ),
      { numRuns: runs(30) },
    );
  });
});

/** Nothing that a recovery saves was made up: what it saves was written once, one state of each item; and what it names as lost it has not saved. */
function expectRefused({ refusal, saved = [], lost = [] }: Opened, place: string): void {
  expect(refusal?.code, place).toBe('InternalError');
  expect(refusal?.message, place).toMatch(/damaged: .+ of its objects can be read.*\. Restore/);
  expect(
    saved.filter((item) => !states.has(item)),
    place,
  ).toEqual([]);
  expect(
    saved.filter((item) => lost.includes(item.split(' ')[0] ?? '')),
    place,
  ).toEqual([]);
}

let copies = 0;

function copy(): string {
  copies += 1;
  const folder = join(root, String(copies));
  cpSync(sound, folder, { recursive: true });
  return folder;
}

/** Has the other process open the folder, and removes it. Fails, saying how, if that process ends. */
async function examine(folder: string): Promise<Opened> {
  examiner ??= start();
  const { child, lines, ended } = examiner;
  child.stdin?.write(`${folder}\n`);
  const [line] = await Promise.race([once(lines, 'line'), ended]);
  rmSync(folder, { recursive: true });
  return JSON.parse(line);
}

function start(): typeof examiner {
  const child = spawn(process.execPath, [opener], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit').then(([code, signal]) =>
    expect.fail(`the process ended: ${code ?? signal}`),
  );
  ended.catch(() => undefined); // after the last folder nobody waits for it
  return { child, lines: createInterface({ input: child.stdout }), ended };
}

/** Values of all sizes, changed and deleted, so that there are several levels, free pages and a history. */
async function fill(folder: string): Promise<void> {
  const random = randomIntegers();
  const store = await openEmbeddedStore({ folder, historyLimit: 80 });
  const revisions = new Map<string, number>();
  for (let round = 0; round < 40; round += 1) {
    for (let write = 0; write < 6; write += 1) {
      const number = random(0, 90);
      const key = `/items/${number}/${'x'.repeat((number * 7) % 300)}`;
      const value = new Uint8Array(random(0, 8) === 0 ? random(9000, 30_000) : random(1, 3000)).fill(round);
      const hash = createHash('sha256').update(value).digest('hex');
      const note = (at: number) => {
        states.add(`${key} ${at} ${hash}`);
        return at;
      };
      const revision = revisions.get(key);
      if (revision === undefined) revisions.set(key, note(await written(store.create(key, value))));
      else if (random(0, 3) > 0) revisions.set(key, note(await written(store.update(key, value, revision))));
      else {
        await written(store.delete(key, revision));
        revisions.delete(key);
      }
    }
  }
  await store.close();
}
