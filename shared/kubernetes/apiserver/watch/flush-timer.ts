/**
 * Milliseconds between two writes to one watch. Events of this time are sent together: encrypting and sending five events costs
 * little more than one, and with 200 watches of one busy collection it is most of the server's work.
 */
const minInterval = 10;
const maxInterval = 100;
/** The interval is this many times the duration of the last flush, so that requests get their share of the event loop. */
const intervalPerFlush = 8;

let next: Promise<void> | undefined;
/** Milliseconds that the last flush kept the event loop. */
let lastDuration = 0;

/** Resolves within 10 to 100 ms, at the same moment for all callers. A watch that was idle need not wait. */
export function nextFlush(): Promise<void> {
  next ??= new Promise((resolve) => {
    const interval = Math.min(maxInterval, Math.max(minInterval, intervalPerFlush * lastDuration));
    setTimeout(() => {
      next = undefined;
      const began = performance.now();
      resolve();
      // All callers have written before an immediate runs.
      setImmediate(() => {
        lastDuration = performance.now() - began;
      });
    }, interval);
  });
  return next;
}
