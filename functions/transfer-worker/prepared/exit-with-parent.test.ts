import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { exitWithParent } from './exit-with-parent.ts';

describe('a worker bound to its parent', () => {
  it.each(['end', 'destroy'] as const)('exits once on the %s of its stdin', async (how) => {
    const stdin = new PassThrough();
    let left = 0;
    exitWithParent(stdin, () => {
      left += 1;
    });
    const closed = once(stdin, 'close');
    stdin.write('ignored');
    expect(left).toBe(0);
    stdin[how]();
    await closed;
    expect(left).toBe(1);
  });
});
