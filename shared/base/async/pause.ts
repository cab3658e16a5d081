import type { Clock } from './clock.ts';

/**
 * Resolves after `ms`, or at once when a signal is aborted; never rejects. Leaves neither timer nor listener behind. Uses the time and the
 * timers of `clock` if given.
 */
export function pause(
  ms: number,
  signal: AbortSignal | readonly (AbortSignal | undefined)[],
  clock?: Pick<Clock, 'after'>,
): Promise<void> {
  const signals = [signal].flat().filter((one) => one !== undefined);
  return new Promise((resolve) => {
    if (signals.some(({ aborted }) => aborted)) return resolve();
    const end = () => {
      cancel();
      for (const one of signals) one.removeEventListener('abort', end);
      resolve();
    };
    const cancel = clock ? clock.after(ms, end) : startTimer(ms, end);
    for (const one of signals) one.addEventListener('abort', end, { once: true });
  });
}

function startTimer(ms: number, callback: () => void): () => void {
  const timer = setTimeout(callback, ms);
  return () => clearTimeout(timer);
}
