/**
 * ms between two writes to one watch. What happens meanwhile goes out together: encrypting and sending costs nearly as much
 * for one event as for five, and with 200 watches of one busy collection it is most of what the server does.
 */
const shortest = 10;
const longest = 100;
/** A beat lasts this many times what it took to write to all who waited for the last one, so that requests get their turn. */
const share = 8;

let next: Promise<void> | undefined;
/** ms that the last beat kept the event loop. */
let taken = 0;

/** Resolves within 10 to 100 ms, for all who ask at the same moment. A watch that was quiet does not have to ask. */
export function nextFlush(): Promise<void> {
  next ??= new Promise((resolve) => {
    const wait = Math.min(longest, Math.max(shortest, share * taken));
    setTimeout(() => {
      next = undefined;
      const began = performance.now();
      resolve();
      // Everybody who waited has written before an immediate runs.
      setImmediate(() => {
        taken = performance.now() - began;
      });
    }, wait);
  });
  return next;
}
