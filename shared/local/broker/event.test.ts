import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { eventHeaders, readEvent, withAttributes } from './event.ts';

const core = { id: '1', source: '/s', specversion: '1.0', type: 't' };
const binary = { 'ce-id': '1', 'ce-source': '/s', 'ce-specversion': '1.0', 'ce-type': 't' };
const structured = (value: unknown) =>
  readEvent(
    { 'content-type': 'application/cloudevents+json; charset=UTF-8' },
    Buffer.from(JSON.stringify(value)),
  );

describe('readEvent', () => {
  it('reads binary mode, extensions and content type included', () => {
    const headers = { ...binary, 'ce-kind': 'Order', 'content-type': 'application/json' };
    expect(readEvent(headers, Buffer.from('{}'))).toEqual({
      attributes: { ...core, kind: 'Order', datacontenttype: 'application/json' },
      data: Buffer.from('{}'),
    });
  });

  it('reads structured mode with JSON, text, base64 and no data', () => {
    expect(structured({ ...core, n: 3, data: { a: 1 } })?.attributes.n).toBe('3');
    expect(structured({ ...core, data: { a: 1 } })?.data?.toString()).toBe('{"a":1}');
    expect(structured({ ...core, datacontenttype: 'text/plain', data: 'hi' })?.data?.toString()).toBe('hi');
    expect(structured({ ...core, data_base64: 'aGk=' })?.data?.toString()).toBe('hi');
    expect(structured(core)?.data).toBeUndefined();
  });

  it('says that other messages are no events', () => {
    expect(readEvent({ 'content-type': 'application/json' }, Buffer.from('{"ok":true}'))).toBeUndefined();
  });

  it.each([
    [{ ...core, id: undefined }, /no id/],
    [{ ...core, specversion: '0.3' }, /0\.3/],
    [{ ...core, 'Bad-Name': 'x' }, /Bad-Name/],
    [{ ...core, ext: {} }, /ext/],
    [[], /is not a JSON object/],
  ])('refuses %j', (value, message) => expect(() => structured(value)).toThrow(message));

  it('refuses batches', () => {
    const headers = { 'content-type': 'application/cloudevents-batch+json' };
    expect(() => readEvent(headers, Buffer.from('[]'))).toThrow(/one event per request/);
  });
});

describe('eventHeaders', () => {
  it('is read back as the same event', () => {
    const text = fc.stringMatching(/^[!-~]([ -~]*[!-~])?$/);
    fc.assert(
      fc.property(text, text, fc.uint8Array({ minLength: 1 }), (id, ext, bytes) => {
        const event = { attributes: { ...core, id, ext }, data: Buffer.from(bytes) };
        expect(readEvent(eventHeaders(event), event.data)).toEqual(event);
      }),
    );
  });

  it('keeps headers ASCII', () => {
    expect(eventHeaders({ attributes: { ...core, ext: 'é\n' }, data: undefined })['ce-ext']).toBe(
      '%C3%A9%0A',
    );
  });
});

describe('withAttributes', () => {
  it('sets and removes without touching the original', () => {
    const event = { attributes: { ...core, a: '1' }, data: undefined };
    expect(withAttributes(event, { a: undefined, b: '2' }).attributes).toEqual({ ...core, b: '2' });
    expect(event.attributes).toEqual({ ...core, a: '1' });
  });
});
