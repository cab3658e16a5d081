import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { fc } from '#shared/base/testing';
import { parseEvent } from './parse-event.ts';

const attributes = { specversion: '1.0', id: 'i', source: '/s', type: 't' };
const binary = { 'ce-specversion': '1.0', 'ce-id': 'i', 'ce-source': '/s', 'ce-type': 't' };
const json = { 'content-type': 'application/cloudevents+json' };

function code(headers: Record<string, string | string[]>, body: string | Uint8Array): string {
  try {
    parseEvent(headers, body);
    return 'accepted';
  } catch (caught) {
    return caught instanceof ArcError ? caught.code : `not an ArcError: ${caught}`;
  }
}

describe('parseEvent accepts', () => {
  it.each([
    'application/cloudevents+json',
    'application/cloudevents+json;charset=utf-8',
    'application/cloudevents+json; charset=UTF-8',
    'Application/CloudEvents+JSON',
  ])('structured mode as %s', (type) => {
    const event = parseEvent(
      { 'Content-Type': type },
      JSON.stringify({ ...attributes, data: { a: 1 }, ext: 5 }),
    );
    expect(event).toMatchObject({ ...attributes, ext: 5, data: { a: 1 } });
  });

  it.each([
    'application/json',
    'application/json;charset=utf-8',
    'APPLICATION/JSON',
    'application/x+json',
    '',
  ])('binary mode with data as %j', (type) => {
    const event = parseEvent({ ...binary, 'Ce-Ext': 'x%20y', 'content-type': type }, '{"a":1}');
    expect(event).toMatchObject({ ...attributes, ext: 'x y', data: { a: 1 } });
  });

  it('fetch headers, bytes, and events without data', () => {
    expect(parseEvent(new Headers(binary), new Uint8Array()).data).toBeUndefined();
    expect(parseEvent(binary, new TextEncoder().encode('"ä"')).data).toBe('ä');
    expect(parseEvent(json, JSON.stringify({ ...attributes, data: null, ext: null })).data).toBeUndefined();
  });

  it('data as base64', () => {
    const data_base64 = Buffer.from('{"a":1}').toString('base64');
    expect(parseEvent(json, JSON.stringify({ ...attributes, data_base64 })).data).toEqual({ a: 1 });
    const absent = { data: null, data_base64: null };
    expect(parseEvent(json, JSON.stringify({ ...attributes, ...absent })).data).toBeUndefined();
    expect(parseEvent(json, JSON.stringify({ ...attributes, ...absent, data: 'a' })).data).toBe('a');
  });
});

describe('parseEvent refuses', () => {
  it.each(['specversion', 'id', 'source', 'type'])('an event without %s, in both modes', (name) => {
    expect(code(json, JSON.stringify({ ...attributes, [name]: undefined }))).toBe('BadRequest');
    expect(code(json, JSON.stringify({ ...attributes, [name]: '' }))).toBe('BadRequest');
    const { [`ce-${name}`]: _, ...rest } = binary as Record<string, string>;
    expect(code(rest, '')).toBe('BadRequest');
  });

  it.each([
    ['an unknown specversion', json, { ...attributes, specversion: '2.0' }, 'BadRequest'],
    ['an old specversion', { ...binary, 'ce-specversion': '0.3' }, '', 'BadRequest'],
    ['an array in structured mode', json, [attributes], 'BadRequest'],
    [
      'a batch',
      { 'content-type': 'application/cloudevents-batch+json' },
      [attributes],
      'UnsupportedMediaType',
    ],
    ['another event format', { 'content-type': 'application/cloudevents+avro' }, '', 'UnsupportedMediaType'],
    [
      'another charset',
      { 'content-type': 'application/cloudevents+json; charset=latin1' },
      '',
      'UnsupportedMediaType',
    ],
    ['a body that is not JSON', json, '{', 'BadRequest'],
    ['data that is not JSON', { ...binary, 'content-type': 'application/json' }, '{', 'BadRequest'],
    ['text data', { ...binary, 'content-type': 'text/plain' }, 'hello', 'UnsupportedMediaType'],
    [
      'text data in structured mode',
      json,
      { ...attributes, datacontenttype: 'text/plain', data: 'x' },
      'UnsupportedMediaType',
    ],
    ['an attribute that is an object', json, { ...attributes, ext: {} }, 'BadRequest'],
    ['an attribute that is a fraction', json, { ...attributes, ext: 1.5 }, 'BadRequest'],
    ['an attribute name with capitals', json, { ...attributes, Ext: 'x' }, 'BadRequest'],
    ['an attribute name with a dash', { ...binary, 'ce-a-b': 'x' }, '', 'BadRequest'],
    ['a prototype for a name', json, `{"__proto__":{"id":"x"},"specversion":"1.0"}`, 'BadRequest'],
    ['data among the headers', { ...binary, 'ce-data': 'x' }, '', 'BadRequest'],
    ['a method of the event for a name', { ...binary, 'ce-validate': 'x' }, '', 'BadRequest'],
    ['a bad time', { ...binary, 'ce-time': 'yesterday' }, '', 'BadRequest'],
    ['bad base64', json, { ...attributes, data_base64: '***' }, 'BadRequest'],
    ['data twice', json, { ...attributes, data: {}, data_base64: 'e30=' }, 'BadRequest'],
    ['bytes that are not UTF-8', binary, Uint8Array.of(0xff), 'BadRequest'],
    ['no event at all', { 'content-type': 'application/json' }, { hello: 1 }, 'BadRequest'],
  ])('%s', (_, headers, body, expected) => {
    const text = typeof body === 'string' || body instanceof Uint8Array ? body : JSON.stringify(body);
    expect(code(headers, text)).toBe(expected);
  });

  it('whatever else comes, with an ArcError', () => {
    const headers = fc.dictionary(fc.constantFrom('content-type', 'ce-id', 'ce-type', 'ce-x'), fc.string());
    const body = fc.oneof(fc.json(), fc.string(), fc.uint8Array());
    fc.assert(
      fc.property(headers, body, fc.boolean(), (given, text, structured) => {
        expect(code(structured ? { ...given, ...json } : given, text)).not.toMatch(/^not/);
      }),
    );
  });
});
