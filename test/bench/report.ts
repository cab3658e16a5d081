/** One measured figure: medians of interleaved runs. `theirs` is null where there is nothing to compare with. */
export interface Figure {
  bench: string;
  case: string;
  n: number;
  ours: number;
  unit: string;
}

/** Prints a figure as one line of JSON, the form every bench of the project has. */
export function report(figure: Figure): void {
  const { bench, case: name, n, ours, unit } = figure;
  console.log(JSON.stringify({ bench, case: name, n, ours: round(ours), theirs: null, unit, better: null }));
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : (upper + (sorted[middle - 1] ?? Number.NaN)) / 2;
}

/** Progress, where it disturbs nobody who reads the JSON. */
export function progress(text: string): void {
  process.stderr.write(`${text}\n`);
}

function round(value: number): number {
  return Number(value.toPrecision(4));
}
