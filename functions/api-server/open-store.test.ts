import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { createLogger, createMetrics } from '#shared/base/telemetry';
import { openStore, untilReachable } from './open-store.ts';

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

describe('untilReachable', () => {
  const failing = (times: number, error: Error) => {
    const open = vi.fn(async () => {
      if (open.mock.calls.length <= times) throw error;
      return 'open';
    });
    return open;
  };

  it('tries again while etcd does not answer', async () => {
    const open = failing(2, new ArcError('ServiceUnavailable', 'no name yet'));
    await expect(untilReachable(open, surroundings)).resolves.toBe('open');
    expect(open).toHaveBeenCalledTimes(3);
  });

  it('gives up when a retry cannot help, and when its time is over', async () => {
    const wrong = failing(9, new ArcError('BadRequest', 'no such endpoint'));
    await expect(untilReachable(wrong, surroundings)).rejects.toThrow('no such endpoint');
    expect(wrong).toHaveBeenCalledTimes(1);
    const absent = failing(9, new ArcError('ServiceUnavailable', 'absent'));
    await expect(untilReachable(absent, surroundings, -1)).rejects.toThrow('absent');
  });
});
