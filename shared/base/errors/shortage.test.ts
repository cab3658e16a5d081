import { getSystemErrorMap } from 'node:util';
import { describe, expect, it } from 'vitest';
import { ArcError } from './arc-error.ts';
import { shortageIn } from './shortage.ts';

const failed = (code: string) => Object.assign(new Error(`${code}: it failed`), { code });

describe('a shortage of the machine', () => {
  it('is one of a closed set of system errors', () => {
    const short = [...getSystemErrorMap().values()]
      .map(([code]) => code)
      .filter((code) => shortageIn(failed(code)) !== undefined);
    expect(short.sort()).toEqual([
      'EADDRNOTAVAIL',
      'EAGAIN',
      // Not in libuv's map on every platform: EDQUOT is looked at below.
      'EMFILE',
      'ENFILE',
      'ENOBUFS',
      'ENOMEM',
      'ENOSPC',
    ]);
    expect(shortageIn(failed('EDQUOT'))).toContain('full');
  });

  it('is found among the causes of an error, and among the addresses that were tried', () => {
    const deep = new ArcError('Invalid', 'cannot read it', { cause: failed('EMFILE') });
    expect(shortageIn(new Error('outer', { cause: deep }))).toContain('ulimit -n');
    expect(shortageIn(new AggregateError([failed('ECONNREFUSED'), failed('ENFILE')]))).toContain(
      'open files',
    );
  });

  it('is none for other errors, circles of causes and what is no error', () => {
    const circle = new Error('circle');
    circle.cause = circle;
    for (const other of [failed('ENOENT'), failed('EACCES'), new Error('x'), circle, 'EMFILE', undefined])
      expect(shortageIn(other)).toBeUndefined();
  });
});
