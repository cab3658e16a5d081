import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createLogger, createMetrics } from '#shared/telemetry';
import { openStore } from './open-store.ts';

const log = createLogger({ name: 'test', level: 'silent' });
const { signal } = new AbortController();
const surroundings = { log, metrics: createMetrics(), signal };

describe('openStore', () => {
  it('opens the store of a folder', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'arc-open-store-'));
    const store = await openStore({ ARC_STORE_FOLDER: folder }, surroundings);
    expect(await store.revision()).toBeGreaterThanOrEqual(0);
    await store.close();
    await rm(folder, { recursive: true });
  });

  it.each([
    [{}, /ARC_ETCD_ENDPOINTS or ARC_STORE_FOLDER/],
    [{ ARC_ETCD_ENDPOINTS: 'https://a:1', ARC_ETCD_CERT_FILE: 'c' }, /ARC_ETCD_KEY_FILE/],
    [{ ARC_ETCD_ENDPOINTS: 'https://a:1', ARC_ETCD_CA_FILE: '/missing/ca' }, /\/missing\/ca/],
    [{ ARC_STORE_FOLDER: 'a', ARC_ETCD_ENDPOINTS: 'b' }, /exclude each other/],
  ])('refuses %j, saying what to set', async (settings, message) => {
    await expect(openStore(settings, surroundings)).rejects.toThrow(message);
  });
});
