import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { createTail } from './tail.ts';

describe('createTail', () => {
  it('keeps the last 200 lines', () => {
    const tail = createTail();
    for (let n = 0; n < 300; n += 1) tail.push(Buffer.from(`line ${n}\n`));
    expect(tail.text().split('\n')).toHaveLength(200);
    expect(tail.text()).toMatch(/^line 100\n.*line 299$/s);
  });

  it('is never longer than 16 KiB and always ends with what came last', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '\n'), maxLength: 9000 })),
        (chunks) => {
          const tail = createTail();
          for (const chunk of chunks) tail.push(Buffer.from(chunk));
          expect(Buffer.byteLength(tail.text())).toBeLessThanOrEqual(16_384);
          expect(chunks.join('').trimEnd().endsWith(tail.text())).toBe(true);
        },
      ),
    );
  });
});
