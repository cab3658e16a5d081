import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { isSampled, readTraceContext, startTrace } from './trace-context.ts';

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const zeros = (length: number) => '0'.repeat(length);

describe('readTraceContext', () => {
  it.each([
    [undefined],
    [''],
    [7],
    [[traceparent]],
    [` ${traceparent}`],
    [`${traceparent}\r\nx-remote-user: root`],
    [`${traceparent}\n`],
    [`${traceparent}-more`],
    [`${traceparent}, ${traceparent}`],
    [traceparent.toUpperCase()],
    [`ff${traceparent.slice(2)}`],
    [`01${traceparent.slice(2)}`],
    [`00-${zeros(32)}-b7ad6b7169203331-01`],
    [`00-0af7651916cd43dd8448eb211c80319c-${zeros(16)}-01`],
    [traceparent.replace('a', 'g')],
    [traceparent.padEnd(100_000, '0')],
  ])('drops %j, and what stands beside it', (value) => {
    expect(readTraceContext(value, 'a=b')).toBeUndefined();
  });

  it.each([
    ['rojo=00f067aa0ba902b7,congo=t61rcWkgMzE'],
    ['fw529a3039@dt=FfffffeC, rojo=1 ,\t,other=a b!~'],
    [Array.from({ length: 32 }, (_, index) => `k${index}=v`).join()],
    [`k=${'v'.repeat(256)}`],
  ])('carries %s', (tracestate) => {
    expect(readTraceContext(traceparent, tracestate)).toEqual({ traceparent, tracestate });
  });

  it.each([
    [undefined],
    [7],
    [''],
    [' , ,'],
    ['a'],
    ['=b'],
    ['a='],
    ['A=b'],
    ['a=b=c'],
    ['a=b\r\nx-remote-user: root'],
    ['a=b\n'],
    ['a=ü'],
    ['a=\u0000'],
    ['a=b,a=c'],
    ['a=b,,c'],
    [Array.from({ length: 33 }, (_, index) => `k${index}=v`).join()],
    [`k=${'v'.repeat(257)}`],
    [`a=${'v'.repeat(255)},b=${'v'.repeat(253)},c=d`],
    [' '.repeat(400_000)],
    [`a=b${','.repeat(600)}`],
  ])('leaves %j out and keeps the rest', (tracestate) => {
    expect(readTraceContext(traceparent, tracestate)).toEqual({ traceparent });
  });

  it('returns only text that fits into HTTP headers', () => {
    const odd = fc.oneof(
      fc.string({ unit: fc.constantFrom('a', 'z', '0', '=', ',', ' ', '\t', '@', '\n', 'é') }),
      fc.oneof(fc.integer(), fc.constant(null), fc.constant(undefined)),
    );
    fc.assert(
      fc.property(fc.oneof(odd, fc.constant(traceparent)), odd, (first, second) => {
        const context = readTraceContext(first, second);
        const headers = Object.entries(context ?? {});
        for (const [, value] of headers) expect(value).toMatch(/^[\t\x20-\x7e]{1,512}$/);
        expect(() => new Headers(headers)).not.toThrow();
      }),
    );
  });
});

describe('startTrace', () => {
  it('is a context that is not recorded: the same for the same cause, another for another', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (one, other) => {
        const context = startTrace(one);
        expect(readTraceContext(context.traceparent)).toEqual(context);
        expect(isSampled(context)).toBe(false);
        expect(startTrace(one)).toEqual(context);
        if (one.toWellFormed() !== other.toWellFormed()) expect(startTrace(other)).not.toEqual(context);
      }),
    );
  });
});

describe('isSampled', () => {
  it.each([
    ['00', false],
    ['01', true],
    ['02', false],
    ['ff', true],
  ])('reads flags %s', (flags, sampled) => {
    expect(isSampled({ traceparent: traceparent.replace(/01$/, flags) })).toBe(sampled);
  });
});
