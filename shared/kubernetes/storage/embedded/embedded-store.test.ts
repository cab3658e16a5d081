import { describe, expect, it } from 'vitest';
import { History } from '../memory/history.ts';
import { Items } from '../memory/items.ts';
import type { Commit, Disk } from './disk.ts';
import { EmbeddedStore } from './embedded-store.ts';

const value = new Uint8Array([1]);

/** A disk whose commits do what the test says. */
class ScriptedDisk implements Disk {
  newest = 1;
  next: 'write' | 'fail' | 'fail after writing' = 'write';

  load(): never {
    throw new Error('not used');
  }

  async commit({ events }: Commit): Promise<void> {
    const how = this.next;
    this.next = 'write';
    if (how !== 'fail') this.newest = events.at(-1)?.revision ?? this.newest;
    if (how !== 'write') throw new Error('no space left on device');
  }

  valueAt(): never {
    throw new Error('not used');
  }

  revision(): number {
    return this.newest;
  }

  async close(): Promise<void> {}
}

function setUp() {
  const disk = new ScriptedDisk();
  const history = new History({ events: 100, bytes: 1_000_000 }, { floor: 0, newest: 1 });
  const parts = { disk, history, items: new Items(), release: () => undefined, progressInterval: 1000 };
  return { disk, store: new EmbeddedStore(parts) };
}

describe('EmbeddedStore', () => {
  it('does not expose a failed write, and accepts the next write', async () => {
    const { disk, store } = setUp();
    disk.next = 'fail';
    const failed = store.create('/a', value);
    await expect(failed).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    await expect(failed).rejects.toThrow(/no space left on device/);
    expect(await store.get('/a')).toEqual({ item: undefined, revision: 1 });
    expect(await store.create('/a', value)).toEqual({ ok: true, revision: 2 });
  });

  it('rejects further writes if a write reported as failed is on disk', async () => {
    const { disk, store } = setUp();
    disk.next = 'fail after writing';
    await expect(store.create('/a', value)).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    await expect(store.create('/b', value)).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    expect(await store.revision()).toBe(1);
  });

  it('refuses an expected revision that no item can have', async () => {
    const { store } = setUp();
    await expect(store.update('/a', value, 0)).rejects.toMatchObject({ code: 'BadRequest' });
    await expect(store.delete('/a', Number.NaN)).rejects.toMatchObject({ code: 'BadRequest' });
  });
});
