import { describe, expect, it } from 'vitest';
import { createMetrics } from './metrics.ts';

describe('createMetrics', () => {
  it('counts, and exposes a counter without labels at zero before anything happened', () => {
    const metrics = createMetrics();
    const counter = metrics.counter({ name: 'relists_total', help: 'lists after the first' });
    expect(metrics.expose()).toBe(
      '# HELP relists_total lists after the first\n# TYPE relists_total counter\nrelists_total 0\n',
    );
    counter.inc();
    counter.inc({}, 2);
    expect(metrics.expose()).toContain('relists_total 3\n');
  });

  it('keeps one line for each label set', () => {
    const metrics = createMetrics();
    const counter = metrics.counter({ name: 'x_total', help: 'x', labels: ['code', 'kind'] });
    counter.inc({ kind: 'Order', code: 409 });
    counter.inc({ code: 409, kind: 'Order' });
    counter.inc({ code: 503, kind: 'Order' });
    expect(metrics.expose()).toContain(
      'x_total{code="409",kind="Order"} 2\nx_total{code="503",kind="Order"} 1\n',
    );
  });

  it('sets and moves gauges, and calls a reader at every exposition', () => {
    const metrics = createMetrics();
    const depth = metrics.gauge({ name: 'depth', help: 'd', labels: ['queue'] });
    depth.set(4, { queue: 'a' });
    depth.add(-1, { queue: 'a' });
    let size = 1;
    metrics.gauge({ name: 'size', help: 's' }, () => size);
    expect(metrics.expose()).toContain('depth{queue="a"} 3\n');
    expect(metrics.expose()).toContain('\nsize 1\n');
    size = 2;
    expect(metrics.expose()).toContain('\nsize 2\n');
  });

  it('exposes histograms with cumulative buckets, sum and count', () => {
    const metrics = createMetrics();
    const latency = metrics.histogram({ name: 'lat', help: 'l', buckets: [1, 2] });
    for (const value of [0.5, 1, 1.5, 9]) latency.observe(value);
    expect(metrics.expose()).toBe(
      [
        '# HELP lat l',
        '# TYPE lat histogram',
        'lat_bucket{le="1"} 2',
        'lat_bucket{le="2"} 3',
        'lat_bucket{le="+Inf"} 4',
        'lat_sum 12',
        'lat_count 4',
        '',
      ].join('\n'),
    );
  });

  it('counts under "other" when there are more label sets than it keeps', () => {
    const metrics = createMetrics();
    const counter = metrics.counter({ name: 'x_total', help: 'x', labels: ['name'], maxSeries: 2 });
    for (const name of ['a', 'b', 'c', 'd', 'a']) counter.inc({ name });
    expect(metrics.expose()).toContain('x_total{name="a"} 2\nx_total{name="b"} 1\nx_total{name="other"} 2\n');
  });

  it('returns the same metric for the same name and refuses another type or other labels', () => {
    const metrics = createMetrics();
    metrics.counter({ name: 'x_total', help: 'x' }).inc();
    metrics.counter({ name: 'x_total', help: 'x' }).inc();
    expect(metrics.expose()).toContain('x_total 2\n');
    expect(() => metrics.gauge({ name: 'x_total', help: 'x' })).toThrow(/already registered/);
    expect(() => metrics.counter({ name: 'x_total', help: 'x', labels: ['a'] })).toThrow(
      /already registered/,
    );
  });

  it.each(['', '1x', 'a-b', 'a b'])('refuses the metric name %j', (name) => {
    expect(() => createMetrics().counter({ name, help: 'x' })).toThrow(/is not a metric name/);
  });

  it('refuses a counter that goes down or is not a number', () => {
    const counter = createMetrics().counter({ name: 'x_total', help: 'x' });
    expect(() => counter.inc({}, -1)).toThrow(/cannot go down/);
    expect(() => counter.inc({}, Number.NaN)).toThrow(/cannot go down/);
  });

  it('reads the value of each label set when it is asked', () => {
    const metrics = createMetrics();
    let first = 1;
    const spec = { name: 'x_led', help: 'x', labels: ['shard'] };
    metrics.gauge(spec, () => first, { shard: 0 });
    metrics.gauge(spec, () => 7, { shard: 1 });
    expect(metrics.expose()).toContain('x_led{shard="0"} 1\nx_led{shard="1"} 7\n');
    first = 2;
    expect(metrics.expose()).toContain('x_led{shard="0"} 2\n');
  });
});
