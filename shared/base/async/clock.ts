/** Time as a long-running part sees it, so that tests can set it. */
export interface Clock {
  /** Milliseconds: since the epoch, or of a steady clock where that is asked for. */
  now(): number;
  /** Runs `callback` once after `ms`; the returned function cancels it. */
  after(ms: number, callback: () => void): () => void;
}

/** The clock of the machine. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, callback) {
    // Node warns of times that are past.
    const timer = setTimeout(callback, Math.max(0, ms));
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/**
 * A clock that corrections of the time of day do not move: for intervals. It shows the time of day as if that had never been corrected since the
 * process began.
 */
export const steadyClock: Clock = {
  ...systemClock,
  now: () => Math.round(performance.timeOrigin + performance.now()),
};
