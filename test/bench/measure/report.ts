/** One measured figure: medians of interleaved runs. `theirs` is absent where there is nothing to compare with. */
export interface Figure {
  bench: string;
  case: string;
  /** How much of it; a text where that takes two numbers. */
  n: number | string;
  ours: number;
  theirs?: number;
  unit: string;
  /** Whether more of the unit is better (default), or less. */
  less?: boolean;
}

/** Prints a figure as one line of JSON, the form every bench of the project has; `better` above 1 speaks for us. */
export function report(figure: Figure): void {
  const { bench, case: name, n, ours, theirs, unit, less = false } = figure;
  const better = theirs === undefined ? null : round(less ? theirs / ours : ours / theirs);
  const measured = { ours: round(ours), theirs: theirs === undefined ? null : round(theirs) };
  console.log(JSON.stringify({ bench, case: name, n, ...measured, unit, better }));
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
