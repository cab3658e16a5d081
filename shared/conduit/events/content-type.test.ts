import { describe, expect, it } from 'vitest';
import { isJson, mediaTypeOf } from './content-type.ts';

describe('mediaTypeOf', () => {
  it.each([
    ['application/json', 'application/json'],
    ['Application/CloudEvents+JSON;charset=UTF-8', 'application/cloudevents+json'],
    ['application/json ; charset="utf-8"; x=y', 'application/json'],
    ['', undefined],
    [undefined, undefined],
  ])('reads %j as %j', (header, expected) => {
    expect(mediaTypeOf(header)).toBe(expected);
  });

  it('refuses other charsets', () => {
    expect(() => mediaTypeOf('application/json; charset=utf-16')).toThrow(/utf-8/);
  });
});

describe('isJson', () => {
  it.each([
    [undefined, true],
    ['application/json', true],
    ['application/merge-patch+json', true],
    ['text/json', true],
    ['text/json-like', false],
    ['text/plain', false],
  ])('%j: %j', (media, expected) => {
    expect(isJson(media)).toBe(expected);
  });
});
