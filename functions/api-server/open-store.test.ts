import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openStore } from './open-store.ts';

describe('openStore', () => {
  it('opens the store of a folder', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'arc-open-store-'));
    const store = await openStore({ ARC_STORE_FOLDER: folder });
    expect(await store.revision()).toBeGreaterThanOrEqual(0);
    await store.close();
    await rm(folder, { recursive: true });
  });

  it.each([
    [{}, /ARC_STORE_FOLDER/],
    [{ ARC_STORE_FOLDER: 'a', ARC_ETCD_ENDPOINTS: 'b' }, /exclude each other/],
  ])('refuses %j, saying what to set', async (settings, message) => {
    await expect(openStore(settings)).rejects.toThrow(message);
  });
});
