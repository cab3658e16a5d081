import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { isRunning, ownIdentity } from './process-identity.ts';

describe('isRunning', () => {
  it('knows this process', () => {
    expect(isRunning(ownIdentity())).toBe(true);
  });

  it('does not take a process for an earlier one with its number', () => {
    const own = ownIdentity();
    // Where the start time is not to be had, a claim from before the machine started is all that tells.
    const earlier = own.started === undefined ? { ...own, at: 0 } : { ...own, started: '1' };
    expect(isRunning(earlier)).toBe(false);
  });

  it('does not believe a claim from before the machine started', () => {
    expect(isRunning({ ...ownIdentity(), at: 0 })).toBe(false);
  });

  it('knows that a process has ended', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'exit');
    expect(isRunning({ pid: child.pid ?? 0, started: undefined, at: Date.now() })).toBe(false);
  });
});
