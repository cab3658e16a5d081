import { describe, expect, it } from 'vitest';
import { fc } from '#shared/testing';
import { decodeItem, decodeUndo, encodeItem, encodeUndo, restoreEvents, type UndoRecord } from './record.ts';

const revision = fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER });
const value = fc.uint8Array({ maxLength: 20 });
const key = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 10 });

describe('records', () => {
  it('keep an item', () => {
    fc.assert(
      fc.property(fc.record({ key, value, revision }), (item) => {
        expect(decodeItem(item.key, encodeItem(item))).toEqual({
          ...item,
          value: Uint8Array.from(item.value),
        });
      }),
    );
  });

  it('keep an event and the value it replaced', () => {
    const type = fc.constantFrom('put' as const, 'delete' as const);
    const before = fc.option(fc.record({ value, revision }), { nil: undefined });
    fc.assert(
      fc.property(key, revision, type, before, (of, at, kind, old) => {
        const previous = old && { key: of, value: Uint8Array.from(old.value), revision: old.revision };
        const record: UndoRecord = { type: kind, key: of, revision: at, previous };
        expect(decodeUndo(at, encodeUndo(record))).toEqual(record);
      }),
    );
  });

  it('hand out copies, never the memory they were read from', () => {
    const stored = encodeItem({ key: '/a', value: new Uint8Array([7]), revision: 3 });
    const item = decodeItem('/a', stored);
    stored.fill(0);
    expect([...item.value]).toEqual([7]);
  });

  it('say which record is damaged', () => {
    expect(() => decodeItem('/a', Buffer.alloc(3))).toThrow(/damaged: the item \/a/);
    expect(() => decodeUndo(12, Buffer.alloc(4))).toThrow(/damaged: the event of revision 12/);
    const short = encodeUndo({ type: 'put', key: '/long', revision: 12, previous: undefined }).subarray(
      0,
      13,
    );
    expect(() => decodeUndo(12, Buffer.from(short))).toThrow(/revision 12/);
  });
});

describe('restoreEvents', () => {
  const first = { key: '/a', value: new Uint8Array([1]), revision: 2 };
  const second = { key: '/a', value: new Uint8Array([2]), revision: 3 };
  const records: UndoRecord[] = [
    { type: 'put', key: '/a', revision: 2, previous: undefined },
    { type: 'put', key: '/a', revision: 3, previous: first },
    { type: 'delete', key: '/a', revision: 4, previous: second },
    { type: 'put', key: '/a', revision: 5, previous: undefined },
  ];

  it('finds each written value in the next event of its key, or in today’s item', () => {
    const today = { key: '/a', value: new Uint8Array([5]), revision: 5 };
    expect(restoreEvents(records, [today])).toEqual([
      { ...first, type: 'put', previous: undefined },
      { ...second, type: 'put', previous: first },
      { type: 'delete', key: '/a', revision: 4, previous: second },
      { ...today, type: 'put', previous: undefined },
    ]);
  });

  it('refuses a history that does not fit the items', () => {
    expect(() => restoreEvents(records, [])).toThrow(/revision 5 \(\/a\)/);
  });
});
