import { median, progress, report } from '../measure/report.ts';
import type { Cost } from './measured-program.ts';

/** What one run took. `resent` is in MiB. */
export type Measured = Pick<Cost, 'seconds'> & Partial<Cost> & { requests?: number; resent?: number };

const units = {
  seconds: 's',
  cpuSeconds: 's of CPU',
  peakMebibytes: 'MiB',
  requests: 'requests',
  resent: 'MiB sent again',
} as const satisfies Record<keyof Measured, string>;

/** Reports each figure of ours beside the best one of the others. */
export function reportBest(name: string, n: number, runs: ReadonlyMap<string, readonly Measured[]>): void {
  for (const [field, unit] of Object.entries(units) as [keyof Measured, string][]) {
    const medians = [...runs]
      .map(([who, measured]) => ({ who, value: median(measured.map((run) => run[field] ?? Number.NaN)) }))
      .filter(({ value }) => !Number.isNaN(value));
    const ours = medians.find(({ who }) => who === 'ours')?.value;
    if (ours === undefined) continue;
    const [best] = medians.filter(({ who }) => who !== 'ours').toSorted((a, b) => a.value - b.value);
    const others = medians.map(({ who, value }) => `${who} ${Number(value.toPrecision(4))}`);
    progress(`${name}, ${unit}: ${others.join(', ')}`);
    report({
      bench: 'transfer',
      case: `${name}, ${field}${best === undefined ? '' : ` (${best.who})`}`,
      n,
      ours,
      ...(best !== undefined && { theirs: best.value }),
      unit,
      less: true,
    });
  }
}
