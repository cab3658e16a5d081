import { setTimeout as sleep } from 'node:timers/promises';
import { report } from '../measure/report.ts';
import type { BridgeState } from './bridge-child.ts';
import { nameOfOrder } from './settled.ts';
import type { CountingSink } from './sink.ts';

const seconds = 40;
const perSecond = 200;

/** ms from each change to its event, and how many changes had none. */
export interface Lags {
  /** So many changes a second there were. */
  rate: number;
  lags: number[];
  missing: number;
}

/** Changes `perSecond` Orders a second, spread over all of them; resolves with how late their events were after `begins` was called. */
export async function changesAtRate(
  sink: CountingSink,
  orders: number,
  change: (index: number, begins: () => void) => Promise<void>,
): Promise<Lags> {
  const changed = new Map<string, number>();
  const under: Promise<void>[] = [];
  const began = performance.now();
  for (let number = 0; number < seconds * perSecond; number += 1) {
    const wait = began + (number * 1_000) / perSecond - performance.now();
    if (wait > 1) await sleep(wait);
    const index = Math.floor((number * orders) / (seconds * perSecond));
    under.push(change(index, () => changed.set(nameOfOrder(index), performance.now())));
  }
  await Promise.all(under);
  const took = (performance.now() - began) / 1_000;
  await sleep(2_000);
  const lags = [...changed].flatMap(([name, since]) => {
    const arrived = sink.arrived.get(name);
    return arrived === undefined || arrived < since ? [] : [arrived - since];
  });
  return {
    lags: lags.toSorted((a, b) => a - b),
    missing: changed.size - lags.length,
    rate: changed.size / took,
  };
}

export function reportLags(
  bench: string,
  n: number,
  { lags, missing, rate }: Lags,
  { depth }: BridgeState,
): void {
  const figure = { bench, n, less: true } as const;
  const at = (part: number) => lags[Math.floor(part * (lags.length - 1))] ?? Number.NaN;
  report({ ...figure, case: 'changes', ours: rate, unit: 'changes/s' });
  report({ ...figure, case: 'change to event, p50', ours: at(0.5), unit: 'ms' });
  report({ ...figure, case: 'change to event, p99', ours: at(0.99), unit: 'ms' });
  report({ ...figure, case: 'changes without an event', ours: missing, unit: 'changes' });
  report({ ...figure, case: 'events that wait at the end', ours: depth, unit: 'events' });
}
