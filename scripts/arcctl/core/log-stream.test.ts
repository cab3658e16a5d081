import { expect, it } from 'vitest';
import { splitLines } from './log-stream.ts';

const bytes = (...texts: string[]) => texts.map((text) => Buffer.from(text, 'latin1'));

it('a log is split into lines, whatever the chunks are, and a long line into parts', async () => {
  const utf8 = Buffer.from('ä').toString('latin1');
  const lines: string[] = [];
  const chunks = bytes(`one\r\nt${utf8[0]}`, `${utf8[1]}wo\n`, '\n', 'longer than ten');
  for await (const line of splitLines(chunks, 10)) lines.push(line);
  expect(lines).toEqual(['one', 'täwo', '', 'longer tha', 'n ten']);
});
