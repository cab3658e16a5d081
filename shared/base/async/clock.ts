/** The time as long-running parts see it; tests replace it. */
export interface Clock {
  /** Milliseconds: since the epoch, or of a steady clock where one is required. */
  now(): number;
  /** Runs `callback` once after `ms`; the returned function cancels it. */
  after(ms: number, callback: () => void): () => void;
}

/** The clock of the machine. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    // Node warns about negative delays.
    const timer = setTimeout(callback, Math.max(0, ms));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/**
 * A monotonic clock, for intervals: corrections of the time of day do not affect it. Shows the time of day as it would be without corrections
 * since the start of the process.
 */
export const steadyClock: Clock = {
  ...systemClock,
  now: () => Math.round(performance.timeOrigin + performance.now()),
};
