import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { readRuns } from './runs.ts';

describe('the runs of a prepared process', () => {
  it('are read one per line, however the input is chunked', async () => {
    const stdin = new PassThrough();
    const runs = readRuns(stdin);
    const first = runs.next();
    stdin.write('{"env":{"A":"1"},');
    stdin.write('"cwd":"/","mark":"x"}\n{"env":{},"cwd":"/t"');
    expect(await first).toEqual({ env: { A: '1' }, cwd: '/', mark: 'x' });
    stdin.write('}\n');
    expect(await runs.next()).toEqual({ env: {}, cwd: '/t' });
  });

  it('notice the end of stdin during a run, and end then', async () => {
    const stdin = new PassThrough();
    const runs = readRuns(stdin);
    const ended = new Promise((resolve) => stdin.once('end', resolve));
    stdin.write('{"env":{},"cwd":"/"}\n');
    await runs.next();
    const next = runs.next();
    stdin.end();
    await ended;
    expect(await next).toBeUndefined();
    expect(await runs.next()).toBeUndefined();
  });

  it.each(['x\n', '[]\n', '{"cwd":"/"}\n', '{"env":{}}\n', 'x'.repeat(1024 * 1024 + 1)])(
    'are not %.20s',
    async (line) => {
      const stdin = new PassThrough();
      const runs = readRuns(stdin);
      stdin.end(line);
      await expect(runs.next()).rejects.toThrow();
    },
  );
});
