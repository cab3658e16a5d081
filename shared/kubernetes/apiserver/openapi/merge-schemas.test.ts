import { describe, expect, it } from 'vitest';
import { mergeIntersection, mergeObjects, mergeUnion } from './merge-schemas.ts';

const text = { type: 'string' } as const;
const free = { 'x-kubernetes-preserve-unknown-fields': true };

describe('mergeUnion', () => {
  it('writes a number or a text as int-or-string', () => {
    expect(mergeUnion([{ type: 'integer' }, text])).toMatchObject({ 'x-kubernetes-int-or-string': true });
  });
  it('merges all variants into one object with the commonly required fields', () => {
    expect(
      mergeUnion([
        {
          type: 'object',
          properties: { via: { ...text, enum: ['a'] }, url: text },
          required: ['via', 'url'],
        },
        {
          type: 'object',
          properties: { via: { ...text, enum: ['b'] }, path: text },
          required: ['via', 'path'],
        },
      ]),
    ).toEqual({
      type: 'object',
      properties: { via: { ...text, enum: ['a', 'b'] }, url: text, path: text },
      required: ['via'],
    });
  });
  it('keeps the type of variants that share it, and nothing where they do not', () => {
    expect(mergeUnion([{ ...text, minLength: 3 }, text])).toEqual(text);
    expect(mergeUnion([{ type: 'boolean' }, text])).toEqual(free);
    expect(mergeUnion([])).toEqual(free);
  });
});

describe('mergeObjects', () => {
  it('preserves when a variant does, and when a map meets fields', () => {
    expect(mergeObjects([{ type: 'object', ...free }, { type: 'object' }], 'any')).toEqual({
      type: 'object',
      ...free,
    });
    expect(
      mergeObjects(
        [
          { type: 'object', additionalProperties: text },
          { type: 'object', properties: { a: text } },
        ],
        'any',
      ),
    ).toEqual({ type: 'object', properties: { a: text }, ...free });
  });
  it('accepts anything in a field about which two variants disagree', () => {
    const merged = mergeObjects(
      [
        { type: 'object', properties: { a: text } },
        { type: 'object', properties: { a: { type: 'boolean' } } },
      ],
      'any',
    );
    expect(merged.properties?.a).toEqual(free);
  });
  it('merges lists item by item', () => {
    const list = (name: string) => ({
      type: 'object' as const,
      properties: {
        l: { type: 'array' as const, items: { type: 'object' as const, properties: { [name]: text } } },
      },
    });
    expect(mergeObjects([list('a'), list('b')], 'any').properties?.l?.items?.properties).toEqual({
      a: text,
      b: text,
    });
  });
});

describe('mergeIntersection', () => {
  it('requires the fields that any part requires', () => {
    expect(
      mergeIntersection([
        { type: 'object', properties: { a: text }, required: ['a'] },
        { type: 'object', properties: { b: text }, required: ['b'] },
      ]).required,
    ).toEqual(['a', 'b']);
  });
  it('takes the typed part beside an untyped one', () => {
    expect(mergeIntersection([free, text])).toEqual(text);
  });
});
