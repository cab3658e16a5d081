import type { Readable } from 'node:stream';

/** Calls `exit` once when `stdin` ends or closes, which happens when the parent process dies. */
export function exitWithParent(stdin: Readable, exit: () => void): void {
  let exited = false;
  const once = (): void => {
    if (exited) return;
    exited = true;
    exit();
  };
  for (const event of ['end', 'close', 'error']) stdin.once(event, once);
  stdin.resume();
}
