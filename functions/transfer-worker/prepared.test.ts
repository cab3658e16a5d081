import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readRun } from './prepared.ts';

describe('the run of a prepared process', () => {
  it('is the first line, and the end of stdin is seen after it', async () => {
    const stdin = new PassThrough();
    const reading = readRun(stdin);
    stdin.write('{"env":{"A":"1"},');
    stdin.write('"cwd":"/"}\n');
    expect(await reading).toEqual({ env: { A: '1' }, cwd: '/' });
    const ended = new Promise((resolve) => stdin.once('end', resolve).resume());
    stdin.end();
    await ended;
  });

  it('is none when stdin ends', async () => {
    const stdin = new PassThrough();
    stdin.end();
    expect(await readRun(stdin)).toBeUndefined();
  });

  it.each(['x\n', '[]\n', '{"cwd":"/"}\n', '{"env":{}}\n', 'x'.repeat(1024 * 1024 + 1)])(
    'is not %.20s',
    async (line) => {
      const stdin = new PassThrough();
      stdin.end(line);
      await expect(readRun(stdin)).rejects.toThrow();
    },
  );
});
