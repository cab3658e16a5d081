import { describe, expect, it } from 'vitest';
import { parseImageArguments, sourceDate } from './arguments.ts';

describe('parseImageArguments', () => {
  it('takes what it knows', () => {
    expect(parseImageArguments(['--base', 'a.b/c:1', '--push', 'a.b/d:1'])).toEqual({
      base: 'a.b/c:1',
      push: 'a.b/d:1',
    });
    expect(parseImageArguments(['--layout', 'out', '--name', 'dev.local/arc/functions:v1'])).toEqual({
      layout: 'out',
      name: 'dev.local/arc/functions:v1',
    });
    expect(parseImageArguments(['--help'])).toHaveProperty('help');
  });

  it.each([
    [[], 'no destination: give --push, --layout or --archive'],
    [['--base', 'a.b/c'], 'no destination: give --push, --layout or --archive'],
    [['--push', ''], '--push is empty'],
    [['--push', `a.b/c@sha256:${'0'.repeat(64)}`], 'the digest is a result'],
    [['--push', 'a.b/c:1', '--name', 'a.b/d:1'], '--name requires --layout or --archive'],
    [['--layout', 'out', '--name', 'functions'], '--name functions: give host/path:tag'],
    [['--tag', 'x'], "Unknown option '--tag'"],
    [['a.b/c:1'], "Unexpected argument 'a.b/c:1'"],
  ])('%j is refused, with the reason', (args, expected) => {
    const parsed = parseImageArguments(args);
    expect('usage' in parsed && parsed.usage).toContain(expected);
    expect('usage' in parsed && parsed.usage).toContain('usage: npm run image');
  });
});

describe('sourceDate', () => {
  it('is a number of seconds, 0 when unset', () => {
    expect([undefined, '', '0', '1700000000'].map(sourceDate)).toEqual([0, 0, 0, 1_700_000_000]);
    expect(['now', '-1', '1.5', '1e3', ' 1'].map(sourceDate)).toEqual(Array(5).fill(undefined));
  });
});
