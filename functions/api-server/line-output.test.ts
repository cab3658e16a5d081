import { PassThrough, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { lineOutput } from './line-output.ts';

it('writes lines in order', async () => {
  const stream = new PassThrough();
  const output = lineOutput(stream);
  expect([output.write('one\n'), output.write('zwölf\n')]).toEqual([true, true]);
  stream.end();
  expect(await text(stream)).toBe('one\nzwölf\n');
});

it('drops what a blocked reader leaves above 64 MiB, and goes on when it reads again', () => {
  let release: () => void = () => undefined;
  const stream = new Writable({
    write(_chunk, _encoding, done) {
      release = done;
    },
  });
  const output = lineOutput(stream);
  const line = 'x'.repeat(16 * 1024 * 1024 - 1).concat('\n');
  const taken = () => output.write(line);
  expect(Array.from({ length: 6 }, taken)).toEqual([true, true, true, true, false, false]);
  expect(stream.writableLength).toBe(64 * 1024 * 1024);
  release();
  expect(taken()).toBe(true);
});

it('survives a reader that has gone, and says that lines are dropped', async () => {
  const stream = new Writable({ write: (_chunk, _encoding, done) => done(new Error('write EPIPE')) });
  const output = lineOutput(stream);
  const closed = new Promise((resolve) => stream.once('close', resolve));
  output.write('one\n');
  await closed;
  expect(output.write('two\n')).toBe(false);
});
