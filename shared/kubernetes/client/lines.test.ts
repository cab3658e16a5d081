import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { readLines } from './lines.ts';
import { collect } from './testing/loopback.ts';

async function* chunksOf(bytes: Uint8Array, cuts: readonly number[]): AsyncGenerator<Uint8Array> {
  let start = 0;
  for (const cut of [...cuts].sort((a, b) => a - b)) {
    const end = Math.min(cut, bytes.length);
    yield bytes.subarray(start, end);
    start = end;
  }
  yield bytes.subarray(start);
}

async function lines(
  text: string | Uint8Array,
  cuts: readonly number[] = [],
  limit = 1_000,
): Promise<string[]> {
  const bytes = typeof text === 'string' ? new TextEncoder().encode(text) : text;
  return collect(readLines(chunksOf(bytes, cuts), limit));
}

describe('readLines', () => {
  it('gives the same lines however the bytes are cut', async () => {
    const line = fc
      .string({ unit: 'grapheme', minLength: 1 })
      .filter((text) => text.trim() !== '' && !text.includes('\n'));
    await fc.assert(
      fc.asyncProperty(fc.array(line), fc.array(fc.nat(200)), async (expected, cuts) => {
        expect(await lines(expected.map((text) => `${text}\n`).join(''), cuts)).toEqual(expected);
      }),
    );
  });

  it('skips empty lines', async () => {
    expect(await lines('\n\r\na\n\nb\n \n')).toEqual(['a', 'b']);
  });

  it('rejects when the stream ends in the middle of a line or a character', async () => {
    await expect(lines('a\n{"type":')).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    await expect(lines(new TextEncoder().encode('a\nä').subarray(0, 3))).rejects.toMatchObject({
      code: 'ServiceUnavailable',
    });
  });

  it('rejects bytes that are not UTF-8', async () => {
    await expect(lines(Uint8Array.of(0x61, 0xff, 0x0a))).rejects.toMatchObject({ code: 'InternalError' });
  });

  it.each([
    ['in one piece', []],
    ['in many pieces, before its end is seen', [3, 6, 9, 12, 15]],
  ])('rejects a line that is too long, %s', async (_, cuts) => {
    await expect(lines(`${'x'.repeat(11)}\n`, cuts, 10)).rejects.toMatchObject({ code: 'InternalError' });
    expect(await lines(`${'x'.repeat(10)}\n`, cuts, 10)).toHaveLength(1);
  });
});
