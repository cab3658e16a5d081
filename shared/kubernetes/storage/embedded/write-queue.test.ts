import { describe, expect, it } from 'vitest';
import type { WriteResult } from '../interface/store.ts';
import type { Write } from './decide.ts';
import { WriteQueue } from './write-queue.ts';

const write = (key: string): Write => ({ key, value: new Uint8Array(), expected: 0 });
const done = (writes: Write[]): WriteResult[] => writes.map((_, revision) => ({ ok: true, revision }));

describe('WriteQueue', () => {
  it('commits the writes of one turn together, and later writes in the next batch', async () => {
    const batches: string[][] = [];
    const late: Promise<WriteResult>[] = [];
    const queue = new WriteQueue(async (writes) => {
      batches.push(writes.map(({ key }) => key));
      if (batches.length === 1) late.push(queue.add(write('/c')), queue.add(write('/d')));
      return done(writes);
    });
    await Promise.all([queue.add(write('/a')), queue.add(write('/b'))]);
    await Promise.all(late);
    expect(batches).toEqual([
      ['/a', '/b'],
      ['/c', '/d'],
    ]);
  });

  it('rejects every write of a failed batch, and continues with the next batch', async () => {
    let commits = 0;
    const queue = new WriteQueue(async (writes) => {
      commits += 1;
      if (commits === 1) throw new Error('no space left');
      return done(writes);
    });
    const failed = await Promise.allSettled([queue.add(write('/a')), queue.add(write('/b'))]);
    expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(await queue.add(write('/c'))).toEqual({ ok: true, revision: 0 });
  });

  it('rejects writes above its limit and finishes queued ones', async () => {
    const queue = new WriteQueue(async (writes) => done(writes));
    const taken = Array.from({ length: 20_000 }, () => queue.add(write('/a')));
    await expect(queue.add(write('/b'))).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    expect((await Promise.all(taken)).every(({ ok }) => ok)).toBe(true);
  });

  it('finishes queued writes on close, and rejects later ones', async () => {
    const queue = new WriteQueue(async (writes) => done(writes));
    const taken = queue.add(write('/a'));
    const closing = queue.close();
    await expect(queue.add(write('/b'))).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    await closing;
    expect(await taken).toEqual({ ok: true, revision: 0 });
  });
});
