import { setTimeout as sleep } from 'node:timers/promises';

/** ms to wait after so many failures in a row: 50, 100, 200 ... 2,000, less up to half of it by chance. */
export function backoff(failures: number): number {
  return Math.min(50 * 2 ** Math.min(failures, 10), 2000) * (1 - Math.random() / 2);
}

/** Waits, at most until one of the signals is aborted; tells nobody which of the two it was. */
export async function pause(ms: number, ...signals: (AbortSignal | undefined)[]): Promise<void> {
  const signal = AbortSignal.any(signals.filter((one) => one !== undefined));
  await sleep(ms, undefined, { signal }).catch((caught: unknown) => {
    if (!signal.aborted) throw caught;
  });
}
