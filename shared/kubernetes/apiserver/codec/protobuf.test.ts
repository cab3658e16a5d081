import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { fc } from '#shared/base/testing';
import { readBytes, readInteger, readMessage, readText } from './protobuf.ts';

function code(run: () => unknown): string {
  try {
    run();
  } catch (caught) {
    return caught instanceof ArcError ? caught.code : 'another error';
  }
  return 'none';
}

describe('readMessage', () => {
  it('reads every wire type in order', () => {
    const bytes = [0x08, 0x96, 0x01, 0x12, 2, 0x68, 0x69, 0x19, 1, 2, 3, 4, 5, 6, 7, 8, 0x25, 1, 2, 3, 4];
    const fields = readMessage(Uint8Array.from(bytes));
    expect(fields.map((field) => [field.number, field.type])).toEqual([
      [1, 'varint'],
      [2, 'bytes'],
      [3, 'fixed'],
      [4, 'fixed'],
    ]);
    expect(fields.slice(0, 1).map(readInteger)).toEqual([150]);
    expect(fields.slice(1, 2).map(readText)).toEqual(['hi']);
  });

  it.each([
    ['a varint cut short', [0x08, 0x80]],
    ['a varint longer than 64 bits', [0x08, ...Array(11).fill(0xff), 1]],
    ['a length beyond the end', [0x12, 5, 1]],
    ['a length of 2^63', [0x12, ...Array(9).fill(0x80), 1]],
    ['field number 0', [0x00, 1]],
    ['a field number out of range', [0xf8, 0xff, 0xff, 0xff, 0xff, 0x7f, 1]],
    ['a group', [0x0b, 0x0c]],
    ['wire type 6', [0x0e]],
    ['a fixed64 cut short', [0x09, 1, 2]],
    ['too many fields', Array(20_000).fill([0x08, 1]).flat()],
  ])('refuses %s', (_, bytes) => {
    expect(code(() => readMessage(Uint8Array.from(bytes)))).toBe('BadRequest');
  });

  it('returns fields or throws BadRequest for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        expect(['none', 'BadRequest']).toContain(
          code(() => readMessage(bytes).map((field) => (field.type === 'bytes' ? readText(field) : field))),
        );
      }),
    );
  });
});

describe('values', () => {
  const [number] = readMessage(Uint8Array.from([0x08, 1]));
  const [broken] = readMessage(Uint8Array.from([0x0a, 1, 0xff]));
  const [huge] = readMessage(Uint8Array.from([0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f]));
  const [minus] = readMessage(Uint8Array.from([0x08, ...Array(9).fill(0xff), 1]));

  it('are refused if their wire type differs', () => {
    if (!number || !broken || !huge || !minus) throw new Error('the bytes of this test are wrong');
    for (const read of [() => readText(number), () => readBytes(number), () => readText(broken)]) {
      expect(code(read)).toBe('BadRequest');
    }
    expect(code(() => readInteger(broken))).toBe('BadRequest');
    expect(code(() => readInteger(huge))).toBe('BadRequest');
    expect(readInteger(minus)).toBe(-1);
  });
});
