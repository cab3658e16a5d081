import { mkdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { failureText } from './failure-text.ts';

describe('failureText', () => {
  it('says where and what to do, for what the system refuses', async () => {
    const caught = await mkdir(`${import.meta.filename}/below`).catch((reason: unknown) => reason);
    expect(failureText(caught)).toBe(
      `${import.meta.filename}/below: a part of the path is a file, not a folder`,
    );
  });

  it('repeats what we said ourselves, and what it does not know', () => {
    expect(failureText(new ArcError('Conflict', 'the store is in use'))).toBe('the store is in use');
    expect(failureText(new Error('odd'))).toContain('odd');
    expect(failureText(new Error('odd'))).not.toContain('\n');
  });
});
