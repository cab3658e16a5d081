import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeApi } from '../../kubernetes/client/testing/fake-api/fake-api.ts';
import { createLiveLogs } from '../kinds/live-logs.ts';
import { runAttempt, type StopReason } from './attempt.ts';
import type { Plan } from './plan.ts';
import { notStarted } from './processes/child.ts';

let root = '';
beforeEach(async () => {
  root = await mkdtemp(path.join(os.tmpdir(), 'attempt-'));
});
afterEach(() => rm(root, { recursive: true }));

const container = { name: 'main', image: 'program', args: [], env: [], mounts: [] };
const plan: Plan = {
  templateName: 't',
  containers: [container],
  volumes: [],
  outputs: [],
  deadlineSeconds: undefined,
  attemptSeconds: undefined,
  retry: undefined,
};

/** An attempt at a program that ends at once; `take` stands for the processes that are there already. */
function attempt(take: () => undefined, signal = new AbortController().signal) {
  return runAttempt(plan, {
    api: new FakeApi().client,
    programs: { program: [process.execPath, '-e', ''] },
    workers: { warm: () => undefined, take, close: async () => undefined },
    folder: path.join(root, 'run'),
    claims: path.join(root, 'claims'),
    namespace: 'ns',
    logs: createLiveLogs().open({ namespace: 'ns', name: 'pod' }),
    signal,
    graceMs: 1_000,
    env: process.env,
    onProgressFile: () => undefined,
  });
}

const short = (code: string) => notStarted(Object.assign(new Error(`spawn ${code}`), { code }));

describe('an attempt on a machine that is short of something', () => {
  it.each(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM'])(
    'is begun again after %s, until there is some',
    async (code) => {
      let asked = 0;
      const result = await attempt(() => {
        asked += 1;
        if (asked < 3) throw short(code);
        return undefined;
      });
      expect(result).toMatchObject({ phase: 'Succeeded', exitCode: '0' });
      expect(asked).toBe(3);
    },
  );

  it('is not begun again after another error', async () => {
    const result = await attempt(() => {
      throw short('EACCES');
    });
    expect(result).toMatchObject({ phase: 'Error', message: 'cannot start a program: spawn EACCES' });
  });

  it('ends when it is stopped meanwhile', async () => {
    const control = new AbortController();
    const reason: StopReason = { why: 'shutdown', strategy: 'Terminate' };
    const result = await attempt(() => {
      control.abort(reason);
      throw short('EMFILE');
    }, control.signal);
    expect(result.phase).toBe('Failed');
  });
});
