import { ArcError } from '#shared/base/errors';
import { exposition } from './exposition.ts';
import { createSeries, type HistogramSpec, type Labels, type MetricSpec, type Series } from './series.ts';

export interface Counter {
  /** Adds `by` (default 1, never negative). */
  inc(labels?: Labels, by?: number): void;
}

export interface Gauge {
  set(value: number, labels?: Labels): void;
  /** Adds `by` (default 1; negative lowers it). */
  add(by?: number, labels?: Labels): void;
}

export interface Histogram {
  observe(value: number, labels?: Labels): void;
}

export interface Metrics {
  /** `read`, if given, returns the value at every exposition; only for a metric without labels. */
  counter(spec: MetricSpec, read?: () => number): Counter;
  /** `read`, if given, returns the value of these labels at every exposition. */
  gauge(spec: MetricSpec, read?: () => number, labels?: Labels): Gauge;
  histogram(spec: HistogramSpec): Histogram;
  /** Returns all metrics in the Prometheus text format 0.0.4. */
  expose(): string;
}

/** The Content-Type of `expose()`. */
export const metricsContentType = 'text/plain; version=0.0.4; charset=utf-8';

const defaultBuckets = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60];

/**
 * Creates a registry; there is no process-wide state. A second call with the same name returns the same metric. With
 * another type or other labels it throws InternalError, because that is a programming error.
 */
export function createMetrics(): Metrics {
  const all = new Map<string, Series>();

  const register = (type: Series['type'], spec: HistogramSpec): Series => {
    const known = all.get(spec.name);
    if (known === undefined) {
      const made = createSeries(type, spec);
      all.set(spec.name, made);
      return made;
    }
    if (known.type !== type || known.labels.join() !== (spec.labels ?? []).join()) {
      throw new ArcError(
        'InternalError',
        `metric ${spec.name} is already registered with another type or other labels`,
      );
    }
    return known;
  };

  return {
    counter(spec, read) {
      const series = register('counter', spec);
      if (read !== undefined) series.at({}).read = read;
      return {
        inc(labels = {}, by = 1) {
          if (!(by >= 0))
            throw new ArcError('InternalError', `counter ${spec.name} cannot go down (by ${by})`);
          series.at(labels).value += by;
        },
      };
    },
    gauge(spec, read, ofLabels = {}) {
      const series = register('gauge', spec);
      if (read !== undefined) series.at(ofLabels).read = read;
      return {
        set: (value, labels = {}) => {
          series.at(labels).value = value;
        },
        add: (by = 1, labels = {}) => {
          series.at(labels).value += by;
        },
      };
    },
    histogram(spec) {
      const series = register('histogram', { buckets: defaultBuckets, ...spec });
      return {
        observe(value, labels = {}) {
          const sample = series.at(labels);
          sample.value += value;
          sample.count += 1;
          const bucket = series.buckets.findIndex((bound) => value <= bound);
          if (bucket >= 0) sample.buckets[bucket] = (sample.buckets[bucket] ?? 0) + 1;
        },
      };
    },
    expose: () => exposition([...all.values()]),
  };
}
