import { describe, expect, it } from 'vitest';
import { anyCharacter, fc } from '#shared/base/testing';
import { ArcError } from './arc-error.ts';
import { printable, printableJson, printableLines } from './printable.ts';

const text = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.string({
    unit: fc.constantFrom('a', '\\', '"', '\n', '\r', '\t', '\0', '\x1b', '\x7f', '\x9b', '\u202e', '\u2066'),
  }),
);

describe('printable', () => {
  it.each([
    ['plain "text" \\n é 🚢', 'plain "text" \\n é 🚢'],
    ['a\nb\r\tc', 'a\\nb\\r\\tc'],
    ['\x00\x1b[31m\x7f', '\\x00\\x1b[31m\\x7f'],
    ['\x07\b\f\v', '\\a\\b\\f\\v'],
    ['\u0085\u009b\u2028\u202e\u2066\u200f', '\\u0085\\u009b\\u2028\\u202e\\u2066\\u200f'],
  ])('%j is shown as %j', (given, shown) => {
    expect(printable(given)).toBe(shown);
  });

  it('leaves nothing that changes a terminal, and changes nothing the second time', () => {
    fc.assert(
      fc.property(text, (given) => {
        const shown = printable(given);
        expect(shown).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
        expect(printable(shown)).toBe(shown);
      }),
    );
  });
});

describe('printableLines', () => {
  it('keeps line breaks and tabs', () => {
    expect(printableLines('a\r\n\tb\rc\x1b')).toBe('a\n\tb\\rc\\x1b');
  });

  it('leaves nothing else that changes a terminal', () => {
    fc.assert(
      fc.property(text, (given) => {
        expect(printableLines(given)).not.toMatch(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });
});

describe('printableJson', () => {
  it('means the same value and holds no control character', () => {
    fc.assert(
      fc.property(fc.dictionary(text, text), (value) => {
        const json = printableJson(JSON.stringify(value));
        expect(json).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
        expect(JSON.parse(json)).toEqual(value);
      }),
    );
  });
});

describe('an ArcError', () => {
  it('shows no raw control character, in its message and in its causes', () => {
    fc.assert(
      fc.property(text, (given) => {
        const causes = [{ reason: 'FieldValueInvalid', message: given, field: given }];
        const error = new ArcError('Invalid', `found "${given}"`, { details: { name: given, causes } });
        const [cause] = error.details?.causes ?? [];
        for (const shown of [error.message, error.details?.name, cause?.message, cause?.field])
          expect(shown).not.toMatch(/[\p{Cc}\u202a-\u202e\u2066-\u2069]/u);
      }),
    );
  });

  it('keeps the line breaks of a message that is made of lines', () => {
    const error = new ArcError('Conflict', '2 conflicts:\n- .a\n- .b\x1b', { multiline: true });
    expect(error.message).toBe('2 conflicts:\n- .a\n- .b\\x1b');
  });
});
