import type { Readable } from 'node:stream';

/** Calls `leave` as soon as the other end of `stdin` is gone: that is how the death of the parent shows itself. */
export function exitWithParent(stdin: Readable, leave: () => void): void {
  let left = false;
  const once = (): void => {
    if (left) return;
    left = true;
    leave();
  };
  for (const event of ['end', 'close', 'error']) stdin.once(event, once);
  stdin.resume();
}
