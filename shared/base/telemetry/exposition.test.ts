import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { createMetrics } from './metrics.ts';

function readBack(text: string): string {
  return text.replace(/\\(.)/gs, (_, character: string) => (character === 'n' ? '\n' : character));
}

describe('exposition', () => {
  it('escapes every label value so that it stays on its line and reads back as it was', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('a', '"', '\\', '\n', 'n', '}', ' ') }), (value) => {
        const metrics = createMetrics();
        metrics.counter({ name: 'x', help: 'h', labels: ['v'] }).inc({ v: value });
        const line = metrics.expose().split('\n').slice(2, -1);
        expect(line).toHaveLength(1);
        const quoted = /^x\{v="(.*)"\} 1$/s.exec(line[0] ?? '')?.[1] ?? '';
        expect(readBack(quoted)).toBe(value);
      }),
    );
  });

  it('writes the special numbers as Prometheus reads them', () => {
    const metrics = createMetrics();
    const gauge = metrics.gauge({ name: 'g', help: 'line\nbreak', labels: ['v'] });
    gauge.set(Number.NaN, { v: 'a' });
    gauge.set(Number.POSITIVE_INFINITY, { v: 'b' });
    gauge.set(Number.NEGATIVE_INFINITY, { v: 'c' });
    expect(metrics.expose()).toBe(
      '# HELP g line\\nbreak\n# TYPE g gauge\ng{v="a"} NaN\ng{v="b"} +Inf\ng{v="c"} -Inf\n',
    );
  });
});
