import { describe, expect, it } from 'vitest';
import { startTrace } from '#shared/base/telemetry';
import { fc } from '#shared/base/testing';
import { stepNames, steps } from '#shared/domain';
import { toBinaryRequest } from './binary-request.ts';
import { parseStepEvent } from './parse-step-event.ts';
import { type StepEventInput, stepEvent } from './step-event.ts';

const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00', tracestate: 'a=b' };
const input: StepEventInput = {
  object: { apiVersion: 'g/v1', kind: 'Order', namespace: 'n', name: 'o', uid: 'u' },
  observed: { apiVersion: 'v1', kind: 'Secret', name: 's', uid: 'w', resourceVersion: '12' },
  step: 'decompose',
  reason: 'generation 2',
  partitionKey: 'root',
  time: new Date(0),
};
const structured = { 'content-type': 'application/cloudevents+json' };

describe('parseStepEvent', () => {
  it('gives back what stepEvent was given, in both modes', () => {
    const text = fc.string({ unit: 'grapheme', minLength: 1 }).map((value) => value.toWellFormed());
    const name = fc.stringMatching(/^[a-z0-9]{1,3}(-[a-z0-9]{1,3})?(\.[a-z0-9]{1,3})?$/);
    const inputs = fc.record({
      object: fc.record(
        {
          apiVersion: text,
          namespace: name,
          name,
          uid: text,
          artifact: fc.stringMatching(/^[0-9a-f]{16}$/),
        },
        { requiredKeys: ['apiVersion', 'namespace', 'name', 'uid'] },
      ),
      observed: fc.record(
        { apiVersion: text, kind: text, namespace: text, name: text, uid: text, resourceVersion: text },
        { requiredKeys: ['apiVersion', 'kind', 'name', 'uid', 'resourceVersion'] },
      ),
      step: fc.constantFrom(...stepNames),
      reason: fc.string({ unit: 'grapheme', maxLength: 40 }).map((value) => value.toWellFormed()),
      partitionKey: text,
      trace: fc.option(fc.constant(trace), { nil: undefined }),
      epoch: fc.option(fc.nat(), { nil: undefined }),
      time: fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }),
    });
    fc.assert(
      fc.property(inputs, fc.nat(1), ({ object: some, ...rest }, at) => {
        const kinds = steps[rest.step].kinds;
        const given = { ...rest, object: { ...some, kind: kinds[at % kinds.length] ?? kinds[0] } };
        const event = stepEvent(given);
        const { headers, body } = toBinaryRequest(event);
        const { partitionKey, time, step, reason, observed } = given;
        const expected = {
          ...given.object,
          trace: given.trace ?? startTrace(event.id),
          id: event.id,
          source: event.source,
          time,
          step,
          reason,
          partitionKey,
          data: { ...observed },
        };
        expect(parseStepEvent(new Headers(headers), body)).toEqual(expected);
        expect(parseStepEvent(structured, JSON.stringify(event))).toEqual(expected);
      }),
    );
  });

  it('takes no other text for an artifact: it becomes part of a selector', () => {
    const event = stepEvent({ ...input, object: { ...input.object, artifact: 'a,b' } });
    const { headers, body } = toBinaryRequest(event);
    expect(parseStepEvent(new Headers(headers), body).artifact).toBeUndefined();
  });

  it('takes of two traces the one that is recorded, else that of the event, and ignores what is none', () => {
    const { headers, body } = toBinaryRequest(stepEvent({ ...input, trace }));
    const { 'ce-traceparent': _, 'ce-tracestate': __, ...bare } = headers;
    const hop = { traceparent: `00-${'c'.repeat(32)}-${'d'.repeat(16)}-00`, tracestate: 'c=d' };
    const recorded = { ...hop, traceparent: hop.traceparent.replace(/00$/, '01') };
    const traceOf = (more: object, event = headers) => parseStepEvent({ ...event, ...more }, body).trace;
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
      ...stepEvent(input).toJSON(),
      knativeerrordest: 'http://submit-workflow',
      knativeerrorcode,
      knativeerrordata: Buffer.from('{"reason":"Invalid"}').toString('base64'),
    };
    expect(parseStepEvent(structured, JSON.stringify(letter)).failure).toEqual({
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
    ['with a long step', { step: 'x'.repeat(254) }, /step is longer/],
    ['with an unknown step', { step: 'toString' }, /for kind Order it is one of decompose, roll-up, expire/],
    ['with a step of another kind', { step: 'submit' }, /for kind Order it is one of/],
    ['with a kind that has no steps', { kind: 'Secret' }, /kind Secret has no steps/],
    ['with a long kind', { kind: 'x'.repeat(254) }, /kind is longer/],
    ['with a number for uid', { uid: 5 }, /lacks the attribute uid/],
    ['without the step', { step: null }, /lacks the attribute step/],
    ['with other data', { data: { kind: 'Secret' } }, /data\.name/],
    ['with data that is not an object', { data: 'x' }, /data/],
  ])('refuses an event %s as Invalid: it never will be right', (_, change, message) => {
    const body = JSON.stringify({ ...stepEvent(input).toJSON(), ...change });
    expect(() => parseStepEvent(structured, body)).toThrow(expect.objectContaining({ code: 'Invalid' }));
    expect(() => parseStepEvent(structured, body)).toThrow(message);
  });

  it('needs no data: the object is the truth', () => {
    const { headers } = toBinaryRequest(stepEvent(input));
    expect(parseStepEvent(headers, '')).toMatchObject({ kind: 'Order', name: 'o' });
  });
});
