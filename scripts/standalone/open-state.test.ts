import { truncateSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openState, recoverState } from './open-state.ts';

let folder = '';

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'arc-state-'));
});

afterEach(() => rm(folder, { recursive: true }));

describe('the state of a standalone', () => {
  it('that is damaged is refused with the command that recovers it, and told about once that is done', async () => {
    const store = await openState(folder);
    await store.create('/a', new Uint8Array([1]));
    await store.close();
    truncateSync(path.join(folder, 'store', 'data.mdb'), 0);
    await expect(openState(folder)).rejects.toThrow(
      `0 of its objects can be read. Restore the folder from a backup, or recover what can be read: npm start -- --folder "${folder}" --recover`,
    );
    expect(await recoverState(folder)).toMatch(
      /The store was damaged: .+\nRecovered 0 objects\. The damaged files are in/,
    );
    await (await openState(folder)).close();
    expect(await recoverState(folder)).toContain('is not damaged');
  });
});
