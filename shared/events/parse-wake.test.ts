import { describe, expect, it } from 'vitest';
import { wakeReasonNames } from '#shared/domain';
import { startTrace } from '#shared/telemetry';
import { fc } from '#shared/testing';
import { toBinaryRequest } from './binary-request.ts';
import { parseWake } from './parse-wake.ts';
import { type WakeInput, wakeEvent } from './wake.ts';

const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00', tracestate: 'a=b' };
const input: WakeInput = {
  target: { apiVersion: 'g/v1', kind: 'Order', namespace: 'n', name: 'o', uid: 'u' },
  watched: { apiVersion: 'v1', kind: 'Secret', name: 's', uid: 'w', resourceVersion: '12' },
  reason: 'inputs',
  partitionKey: 'root',
  time: new Date(0),
};
const structured = { 'content-type': 'application/cloudevents+json' };

describe('parseWake', () => {
  it('gives back what wakeEvent was given, in both modes', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 }).map((value) => value.toWellFormed());
    const name = fc.stringMatching(/^[a-z0-9]{1,3}(-[a-z0-9]{1,3})?(\.[a-z0-9]{1,3})?$/);
    const inputs = fc.record({
      target: fc.record(
        {
          apiVersion: text,
          kind: text,
          namespace: name,
          name,
          uid: text,
          artifact: fc.stringMatching(/^[0-9a-f]{16}$/),
        },
        { requiredKeys: ['apiVersion', 'kind', 'namespace', 'name', 'uid'] },
      ),
      watched: fc.record(
        { apiVersion: text, kind: text, namespace: text, name: text, uid: text, resourceVersion: text },
        { requiredKeys: ['apiVersion', 'kind', 'name', 'uid', 'resourceVersion'] },
      ),
      reason: fc.constantFrom(...wakeReasonNames),
      partitionKey: text,
      trace: fc.option(fc.constant(trace), { nil: undefined }),
      epoch: fc.option(fc.nat(), { nil: undefined }),
      time: fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }),
    });
    fc.assert(
      fc.property(inputs, (given) => {
        const event = wakeEvent(given);
        const { headers, body } = toBinaryRequest(event);
        const { partitionKey, time, reason, watched } = given;
        const expected = {
          ...given.target,
          trace: given.trace ?? startTrace(event.id),
          ...{ id: event.id, source: event.source, time, reason, partitionKey, data: { ...watched } },
        };
        expect(parseWake(new Headers(headers), body)).toEqual(expected);
        expect(parseWake(structured, JSON.stringify(event))).toEqual(expected);
      }),
    );
  });

  it('takes no other text for an artifact: it becomes part of a selector', () => {
    const event = wakeEvent({ ...input, target: { ...input.target, artifact: 'a,b' } });
    const { headers, body } = toBinaryRequest(event);
    expect(parseWake(new Headers(headers), body).artifact).toBeUndefined();
  });

  it('takes of two traces the one that is recorded, else that of the event, and ignores what is none', () => {
    const { headers, body } = toBinaryRequest(wakeEvent({ ...input, trace }));
    const { 'ce-traceparent': _, 'ce-tracestate': __, ...bare } = headers;
    const hop = { traceparent: `00-${'c'.repeat(32)}-${'d'.repeat(16)}-00`, tracestate: 'c=d' };
    const recorded = { ...hop, traceparent: hop.traceparent.replace(/00$/, '01') };
    const traceOf = (more: object, event = headers) => parseWake({ ...event, ...more }, body).trace;
    expect(traceOf({})).toEqual(trace);
    expect(traceOf(hop)).toEqual(trace);
    expect(traceOf(recorded)).toEqual(recorded);
    expect(traceOf({ traceparent: recorded.traceparent })).toEqual({ traceparent: recorded.traceparent });
    expect(traceOf(hop, bare)).toEqual(hop);
    expect(traceOf({ traceparent: 'x' })).toEqual(trace);
    expect(traceOf({ traceparent: 'x', tracestate: 'c=d' }, bare)).toBeUndefined();
    expect(traceOf({ 'ce-traceparent': 'x' })).toBeUndefined();
    expect(traceOf({ 'ce-tracestate': 'a=%0D%0Ab' })).toEqual({ traceparent: trace.traceparent });
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
    ['without the namespace', { namespace: undefined }, /lacks the attribute namespace/],
    ...[
      '..',
      '.',
      '../../secrets/x',
      'a/b',
      'x%2Fy',
      'a b',
      'a\u0000',
      'x?watch=1',
      'X',
      '-x',
      'x.',
      'a..b',
      'é',
    ].map((bad): [string, object, RegExp] => [
      `with the name ${JSON.stringify(bad)}`,
      { name: bad },
      /not a name/,
    ]),
    ['with a namespace that is a path', { namespace: '..' }, /namespace is not a name/],
    ['with a long name', { name: 'x'.repeat(254) }, /name is longer/],
    ['with a long reason', { reason: 'x'.repeat(254) }, /reason is longer/],
    ['with an unknown reason', { reason: 'toString' }, /reason must be one of changed, created, .*resync/],
    ['with a long kind', { kind: 'x'.repeat(254) }, /kind is longer/],
    ['with a number for uid', { uid: 5 }, /lacks the attribute uid/],
    ['without the reason', { reason: null }, /lacks the attribute reason/],
    ['with other data', { data: { kind: 'Secret' } }, /data\.name/],
    ['with data that is not an object', { data: 'x' }, /data/],
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
