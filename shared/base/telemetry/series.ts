import { ArcError } from '#shared/base/errors';

export type Labels = Readonly<Record<string, string | number>>;

export interface MetricSpec {
  /** Prometheus name: [a-zA-Z_:][a-zA-Z0-9_:]*, unit and `_total` included by the caller. */
  name: string;
  help: string;
  /** The label names; every sample gives all of them. */
  labels?: readonly string[];
  /** Maximum number of label sets (default 500). Further label sets are counted under the label value `other`. */
  maxSeries?: number;
}

export interface HistogramSpec extends MetricSpec {
  /** Upper bounds, ascending, without +Inf. Default: 5 ms to 60 s. */
  buckets?: readonly number[];
}

/** The values of one label set. `value` is the sum of a histogram; `buckets` are not cumulative. */
export interface Sample {
  labels: Record<string, string>;
  value: number;
  count: number;
  buckets: number[];
  /** If set, computes the value at every exposition. */
  read?: () => number;
}

/** One metric: its description and a bounded number of label sets. */
export interface Series {
  type: 'counter' | 'gauge' | 'histogram';
  name: string;
  help: string;
  labels: readonly string[];
  buckets: readonly number[];
  samples: Map<string, Sample>;
  at(labels: Labels): Sample;
}

const defaultMaxSeries = 500;

/** Validates the description and creates an empty series. A metric without labels exists from the start, at zero. */
export function createSeries(type: Series['type'], spec: HistogramSpec): Series {
  const names = spec.labels ?? [];
  if (!/^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(spec.name)) {
    throw new ArcError('InternalError', `${JSON.stringify(spec.name)} is not a metric name`);
  }
  const bad = names.find((name) => !/^[a-zA-Z_][a-zA-Z0-9_]*$/.test(name) || name === 'le');
  if (bad !== undefined)
    throw new ArcError('InternalError', `metric ${spec.name}: ${bad} is not a label name`);
  const buckets = type === 'histogram' ? (spec.buckets ?? []) : [];
  const limit = spec.maxSeries ?? defaultMaxSeries;
  const samples = new Map<string, Sample>();

  const sampleOf = (values: readonly string[], key = values.join('\0')): Sample => {
    const known = samples.get(key);
    if (known !== undefined) return known;
    const labels = Object.fromEntries(names.map((name, index) => [name, values[index] ?? '']));
    const made = { labels, value: 0, count: 0, buckets: buckets.map(() => 0) };
    samples.set(key, made);
    return made;
  };

  const at = (labels: Labels): Sample => {
    const values = names.map((name) => String(labels[name] ?? ''));
    const key = values.join('\0');
    const known = samples.get(key);
    if (known !== undefined) return known;
    // Label values often come from users' objects: without a bound they would exhaust the memory.
    return samples.size >= limit ? sampleOf(names.map(() => 'other')) : sampleOf(values, key);
  };

  if (names.length === 0) sampleOf([]);
  return { type, name: spec.name, help: spec.help, labels: names, buckets, samples, at };
}
