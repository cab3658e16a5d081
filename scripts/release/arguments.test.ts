import { describe, expect, it } from 'vitest';
import { parseReleaseArguments } from './arguments.ts';

describe('the arguments of npm run release', () => {
  it('have defaults that need no typing', () => {
    expect(parseReleaseArguments([])).toEqual({
      folder: 'dist/release',
      image: 'registry.example.com/artifact-conduit',
    });
  });

  it('print a help', () => {
    expect(parseReleaseArguments(['-h'])).toMatchObject({ help: expect.stringContaining('--key') });
  });

  it.each([
    ['--image registry.example.com/arc:v1', 'without a tag'],
    ['--image arc', 'host/path'],
    ['--url http://example.com/arc', 'https://'],
    ['--folder=', '--folder is empty'],
    ['--nothing', '--nothing'],
  ])('refuse %s: %s', (args, why) => {
    expect(parseReleaseArguments(args.split(' '))).toMatchObject({ usage: expect.stringContaining(why) });
  });
});
