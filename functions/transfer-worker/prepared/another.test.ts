import { describe, expect, it } from 'vitest';
import { type EndedRun, mayTakeAnother } from './another.ts';

const ended: EndedRun = { code: 0, count: 1, rss: 60 * 1024 ** 2, stopped: false };

describe('a process that has done a run', () => {
  it.each([0, 10, 11, 12, 13, 14, 15])('may take another one after the verdict %i', (code) => {
    expect(mayTakeAnother({ ...ended, code })).toBe(true);
  });

  it.each<[string, Partial<EndedRun>]>([
    ['after an unexpected failure', { code: 1 }],
    ['after it was told to stop', { code: 10, stopped: true }],
    ['after two hundred', { count: 200 }],
    ['when it has grown', { rss: 256 * 1024 ** 2 }],
  ])('may not %s', (_, over) => {
    expect(mayTakeAnother({ ...ended, ...over })).toBe(false);
  });
});
