import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { decodeRecord, encodeRecord, encodeRevision } from './record.ts';

const revision = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });

describe('records', () => {
  it('keep an event without its values', () => {
    const event = fc.record({
      type: fc.constantFrom('put' as const, 'delete' as const),
      key: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 10 }),
      revision,
      previous: fc.oneof(fc.constant(0), revision),
      previousBytes: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    });
    fc.assert(
      fc.property(event, (record) => {
        expect(decodeRecord(record.revision, encodeRecord(record))).toEqual(record);
      }),
    );
  });

  it('report which record is damaged', () => {
    expect(() => decodeRecord(12, Buffer.alloc(4))).toThrow(/damaged: the event of revision 12/);
    expect(() => decodeRecord(12, Buffer.alloc(13))).toThrow(/revision 12/);
  });

  it('have revisions in the order of their bytes', () => {
    fc.assert(
      fc.property(revision, revision, (one, other) => {
        expect(Math.sign(encodeRevision(one).compare(encodeRevision(other)))).toBe(Math.sign(one - other));
      }),
    );
  });
});
