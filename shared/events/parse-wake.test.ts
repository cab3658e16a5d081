import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toBinaryRequest } from './binary-request.ts';
import { parseWake } from './parse-wake.ts';
import { type WakeInput, wakeEvent } from './wake.ts';

const trace = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const input: WakeInput = {
  target: { apiVersion: 'g/v1', kind: 'Order', namespace: 'n', name: 'o', uid: 'u' },
  watched: { apiVersion: 'v1', kind: 'Secret', name: 's', uid: 'w', resourceVersion: '12' },
  reason: 'inputs',
  source: '/arc',
  partitionKey: 'root',
  time: new Date(0),
};
const structured = { 'content-type': 'application/cloudevents+json' };

describe('parseWake', () => {
  it('gives back what wakeEvent was given, in both modes', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 }).map((value) => value.toWellFormed());
    const inputs = fc.record({
      target: fc.record({ apiVersion: text, kind: text, namespace: text, name: text, uid: text }),
      watched: fc.record(
        { apiVersion: text, kind: text, namespace: text, name: text, uid: text, resourceVersion: text },
        { requiredKeys: ['apiVersion', 'kind', 'name', 'uid', 'resourceVersion'] },
      ),
      reason: text,
      source: fc.webPath().map((path) => `/arc${path}`),
      partitionKey: text,
      traceparent: fc.option(fc.constant(trace), { nil: undefined }),
      epoch: fc.option(fc.nat(), { nil: undefined }),
      time: fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }),
    });
    fc.assert(
      fc.property(inputs, (given) => {
        const event = wakeEvent(given);
        const { headers, body } = toBinaryRequest(event);
        const { traceparent, partitionKey, time, source, reason, watched } = given;
        const expected = {
          ...given.target,
          ...(traceparent !== undefined && { traceparent }),
          ...{ id: event.id, source, time, reason, partitionKey, data: { ...watched } },
        };
        expect(parseWake(new Headers(headers), body)).toEqual(expected);
        expect(parseWake(structured, JSON.stringify(event))).toEqual(expected);
      }),
    );
  });

  it('takes the trace from the HTTP header when the event has none, and ignores what is no trace', () => {
    const { headers, body } = toBinaryRequest(wakeEvent(input));
    expect(parseWake({ ...headers, traceparent: trace }, body).traceparent).toBe(trace);
    expect(parseWake({ ...headers, traceparent: 'x' }, body).traceparent).toBeUndefined();
    const other = trace.replace('01', '00');
    expect(parseWake({ ...headers, 'ce-traceparent': other, traceparent: trace }, body).traceparent).toBe(
      other,
    );
  });

  it.each([
    ['integer from the Go brokers', 503, 503],
    ['text from Kafka', '503', 503],
    ['nothing', undefined, undefined],
  ])('reads a dead letter with a status that is %s', (_, knativeerrorcode, status) => {
    const letter = {
      ...wakeEvent(input).toJSON(),
      knativeerrordest: 'http://submit-workflow',
      knativeerrorcode,
      knativeerrordata: Buffer.from('{"reason":"Invalid"}').toString('base64'),
    };
    expect(parseWake(structured, JSON.stringify(letter)).failure).toEqual({
      destination: 'http://submit-workflow',
      ...(status !== undefined && { status }),
      body: '{"reason":"Invalid"}',
    });
  });

  it.each([
    ['of another type', { type: 'other' }, /type other/],
    ['without the kind', { kind: undefined }, /lacks the attribute kind/],
    ['without the name', { name: '' }, /lacks the attribute name/],
    ['with a number for uid', { uid: 5 }, /lacks the attribute uid/],
    ['without the reason', { reason: null }, /lacks the attribute reason/],
    ['with other data', { data: { kind: 'Secret' } }, /data\.name/],
    ['with data that is no object', { data: 'x' }, /data/],
  ])('refuses an event %s as Invalid: it never will be right', (_, change, message) => {
    const body = JSON.stringify({ ...wakeEvent(input).toJSON(), ...change });
    expect(() => parseWake(structured, body)).toThrow(expect.objectContaining({ code: 'Invalid' }));
    expect(() => parseWake(structured, body)).toThrow(message);
  });

  it('needs no data: the object is the truth', () => {
    const { headers } = toBinaryRequest(wakeEvent(input));
    expect(parseWake(headers, '')).toMatchObject({ kind: 'Order', name: 'o' });
  });
});
