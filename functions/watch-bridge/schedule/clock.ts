/** Time as the bridge sees it, so that tests own it. */
export interface Clock {
  /** Milliseconds: since the epoch, or of a steady clock where that is asked for. */
  now(): number;
  /** Runs `callback` once after `ms`; the returned function cancels it. */
  after(ms: number, callback: () => void): () => void;
}

/** The clock of the machine. Its timers keep no process alive: the watches do. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    const timer = setTimeout(callback, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/** One that no correction of the time of day moves: for what must hold between processes. */
export const steadyClock: Clock = { ...systemClock, now: () => performance.now() };

/** `ms` spread evenly over +-25 %, so that what began together does not stay together. */
export function jittered(ms: number, random: () => number): number {
  return ms * (0.75 + random() * 0.5);
}
