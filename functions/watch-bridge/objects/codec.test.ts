import { describe, expect, it } from 'vitest';
import { fc } from '#shared/testing';
import { Codec } from './codec.ts';

function roundTrip(codec: Codec, value: unknown): unknown {
  return codec.decode(codec.encode(value));
}

describe('Codec', () => {
  it('gives back every JSON value, before and after parts of it have a number', () => {
    const special = fc.constantFrom(
      '2026-02-30T00:00:00Z',
      '2026-01-01T24:00:00Z',
      'f7682194-d378-4733-a4ad-aea6c48517b0',
      `sha256:${'0a'.repeat(32)}`,
      '00ff00ff00',
      'release-1-9391271c89f2e933',
      'a\nb:9391271c89f2e933',
      '€-9391271c89f2e933',
      '9007199254740993',
      '12',
      '2099-12-31T23:59:59Z',
      '2026-11-23T05:30:17Z',
      '\ud800',
      'ä€😀\ud800',
      'ä€😀',
    );
    const json = fc.letrec<{ any: unknown }>((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        fc.jsonValue(),
        special,
        fc.array(tie('any'), { maxLength: 3 }),
        fc.dictionary(fc.oneof(special, fc.string(), fc.constantFrom('a\nb', '')), tie('any'), {
          maxKeys: 4,
        }),
      ),
    })).any;
    const codec = new Codec();
    fc.assert(
      fc.property(json, (value) => {
        const plain: unknown = JSON.parse(JSON.stringify(value));
        for (let times = 0; times < 40; times += 13) {
          for (let more = 0; more < 13; more += 1) codec.encode(plain);
          expect(roundTrip(codec, plain)).toEqual(plain);
        }
      }),
    );
  });

  it('leaves out fields that are undefined', () => {
    expect(roundTrip(new Codec(), { a: undefined, b: 1 })).toEqual({ b: 1 });
  });

  it('uses one byte a character, whatever the text', () => {
    for (const character of new Codec().encode({ name: 'ä€😀', more: '€😀\ud800' }))
      expect(character.charCodeAt(0)).toBeLessThan(0x100);
  });

  it('makes what comes often short', () => {
    const codec = new Codec();
    const object = { namespace: 'a-team-with-a-long-name', phase: 'Succeeded', nested: { kept: true } };
    const first = codec.encode(object);
    for (let times = 0; times < 50; times += 1) codec.encode(object);
    expect(codec.encode(object).length).toBe(2);
    expect(codec.decode(first)).toEqual(object);
  });

  it('reads what is given the last of its numbers, and what comes when none is left', () => {
    const codec = new Codec();
    const texts = Array.from({ length: 32_900 }, (_, index) => `text-${index}`);
    for (const text of texts) for (let times = 0; times < 13; times += 1) codec.encode(text);
    for (const text of [...texts.slice(0, 3), ...texts.slice(-200)])
      expect(roundTrip(codec, text)).toBe(text);
    expect(codec.encode(texts.at(-1)).length).toBeGreaterThan(2);
  });
});
