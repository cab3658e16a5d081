import type { Sample, Series } from './series.ts';

/** Formats metrics in the Prometheus text format 0.0.4: HELP, TYPE, then one line per sample. */
export function exposition(all: readonly Series[]): string {
  return all.flatMap(lines).join('');
}

function lines(series: Series): string[] {
  const head = [
    `# HELP ${series.name} ${escapeHelp(series.help)}\n`,
    `# TYPE ${series.name} ${series.type}\n`,
  ];
  const body = [...series.samples.values()].flatMap((sample) =>
    series.type === 'histogram'
      ? histogram(series, sample)
      : [line(series.name, sample.labels, sample.read?.() ?? sample.value)],
  );
  return [...head, ...body];
}

function histogram(series: Series, sample: Sample): string[] {
  let below = 0;
  const buckets = series.buckets.map((bound, index) => {
    below += sample.buckets[index] ?? 0;
    return line(`${series.name}_bucket`, { ...sample.labels, le: number(bound) }, below);
  });
  return [
    ...buckets,
    line(`${series.name}_bucket`, { ...sample.labels, le: '+Inf' }, sample.count),
    line(`${series.name}_sum`, sample.labels, sample.value),
    line(`${series.name}_count`, sample.labels, sample.count),
  ];
}

function line(name: string, labels: Readonly<Record<string, string>>, value: number): string {
  const pairs = Object.entries(labels).map(([key, text]) => `${key}="${escapeLabel(text)}"`);
  return `${name}${pairs.length === 0 ? '' : `{${pairs.join(',')}}`} ${number(value)}\n`;
}

function number(value: number): string {
  if (Number.isNaN(value)) return 'NaN';
  if (!Number.isFinite(value)) return value > 0 ? '+Inf' : '-Inf';
  return String(value);
}

function escapeHelp(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n');
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}
