import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { maxParts, PartBuffers, parallelParts, partBytes, splitIntoParts } from './parts.ts';

const mebibyte = 1024 * 1024;

describe('the parts of an upload', () => {
  it.each([
    [1, 8],
    [80_000, 8],
    [80_001, 16],
    [640_000, 64],
  ])('of a file of %i MiB have %i MiB', (size, part) => {
    expect(partBytes(1, size * mebibyte)).toBe(part * mebibyte);
  });

  it('of a file that is too large are refused', () => {
    expect(() => partBytes(1, 640_001 * mebibyte)).toThrow(/too large for S3/);
  });

  it('grow with a file of unknown size, up to 64 MiB', () => {
    const sizes = [1, 2500, 2501, 5001, 10_000].map((number) => partBytes(number, undefined) / mebibyte);
    expect(sizes).toEqual([8, 8, 16, 32, 64]);
  });

  it.each([
    [8, 3],
    [16, 1],
    [64, 1],
  ])('of %i MiB are sent %i at a time', (bytes, parallel) => {
    expect(parallelParts(bytes * mebibyte)).toBe(parallel);
  });

  it('hold the content, whatever its chunks', async () => {
    const chunks = fc.array(fc.uint8Array({ maxLength: 20 }), { maxLength: 20 });
    await fc.assert(
      fc.asyncProperty(chunks, fc.integer({ min: 1, max: 17 }), async (given, bytes) => {
        async function* content() {
          yield* given;
        }
        const parts: Uint8Array[] = [];
        const buffers = new PartBuffers();
        for await (const part of splitIntoParts(content(), () => bytes, buffers)) {
          parts.push(Uint8Array.from(part));
          buffers.give(part);
        }
        expect(Buffer.concat(parts)).toEqual(Buffer.concat(given));
        expect(parts.slice(0, -1).every(({ length }) => length === bytes)).toBe(true);
        expect(parts.length).toBeGreaterThan(0);
        expect(parts.length).toBeLessThanOrEqual(maxParts);
      }),
      { numRuns: 100 },
    );
  });
});
