import { createHash } from 'node:crypto';
import { closeSync, constants, futimesSync, lstatSync, mkdirSync, openSync } from 'node:fs';
import path from 'node:path';
import { defaultRetry } from './retry.ts';

/** How long a server wants no requests of an account, as the workers of one machine tell one another. */
export interface Waits {
  /** What another worker was told since this was last asked, in ms from now on; 0 if there is nothing new. */
  news(): number;
  tell(waitMs: number): void;
}

/** A worker looks so often at what others were told, ms. */
const lookMs = 100;
const mostMs = defaultRetry.maxRetryAfterMs;
/** Nothing is written to what a link leads to, and a pipe holds nobody up. */
const openFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Waits kept in a folder that workers share: an empty file for each account at a server, whose modification time is the end of the wait. A worker that
 * cannot read or write it goes by its own answers alone, as without the folder. A time further ahead than a server may ask for is not believed.
 */
export function waitsIn(folder: string, now: () => number = Date.now): (place: string) => Waits {
  return (place) => {
    // A hash: names of servers and accounts make no path.
    const file = path.join(folder, createHash('sha256').update(place).digest('hex').slice(0, 32));
    let lookedAt = Number.NEGATIVE_INFINITY;
    /** The end of the last wait that this worker knows of, ms since the epoch. */
    let known = 0;

    /** Of the wait until then; 0 if it has passed, or is not believed. */
    const left = (until: number) => (until - now() < mostMs ? Math.max(0, until - now()) : 0);

    return {
      news() {
        // The clock may have been set back.
        if (Math.abs(now() - lookedAt) < lookMs) return 0;
        lookedAt = now();
        const until = modifiedAt(file);
        if (until === known) return 0;
        known = until;
        return left(until);
      },
      tell(waitMs) {
        // A worker that is asked to wait longer gives up, and says so. The others ask for themselves instead of waiting without a word.
        if (waitMs >= mostMs || waitMs <= left(modifiedAt(file))) return;
        known = Math.round(now() + waitMs);
        try {
          mkdirSync(folder, { recursive: true, mode: 0o700 });
          setModified(file, known);
        } catch {
          // Others will be told by the server itself.
        }
      },
    };
  };
}

function setModified(file: string, ms: number): void {
  const opened = openSync(file, openFlags, 0o600);
  try {
    futimesSync(opened, ms / 1000, ms / 1000);
  } finally {
    closeSync(opened);
  }
}

/** In whole ms; 0 if there is no such file. */
function modifiedAt(file: string): number {
  try {
    const found = lstatSync(file, { throwIfNoEntry: false });
    return found?.isFile() ? Math.round(found.mtimeMs) : 0;
  } catch {
    return 0;
  }
}
