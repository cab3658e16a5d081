import { describe, expect, it } from 'vitest';
import { parsedBodyType } from './connection.ts';

describe('parsedBodyType', () => {
  const typeOf = (type: string) =>
    parsedBodyType(
      new Request('http://test.invalid/', { method: 'POST', headers: { 'content-type': type } }),
    );

  it.each([
    ['Application/JSON; charset=utf-8', 'application/json'],
    ['application/yaml;', 'application/yaml'],
    ['application/json; a="b c"; d=e', 'application/json'],
    ['application/json; charset', 'application/json; charset'],
    ['application/json; =utf-8', 'application/json; =utf-8'],
    ['application/json;; charset=utf-8', 'application/json;; charset=utf-8'],
    ['application/json, application/yaml', 'application/json, application/yaml'],
  ])('of %s is %s, as in Go', (header, type) => expect(typeOf(header)).toBe(type));
});
