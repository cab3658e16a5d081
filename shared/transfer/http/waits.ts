import { createHash } from 'node:crypto';
import { mkdirSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { defaultRetry } from './retry.ts';

/** Until when a server wants no requests, as the workers of one machine tell one another. Times are ms since the epoch. */
export interface Waits {
  /** 0 where nobody has been told to wait. */
  until(): number;
  tell(until: number): void;
}

/** A worker looks so often at what others were told, ms. */
const lookMs = 100;

/**
 * Waits kept in a folder that workers share: an empty file for each server, whose modification time is the end of the wait. A worker that
 * cannot read or write it goes by its own answers alone, as without the folder. A time further ahead than a server may ask for is not believed.
 */
export function waitsIn(folder: string, now: () => number = Date.now): (host: string) => Waits {
  return (host) => {
    // A hash: a name of a server makes no path.
    const file = path.join(folder, createHash('sha256').update(host).digest('hex').slice(0, 32));
    let lookedAt = Number.NEGATIVE_INFINITY;
    let known = 0;
    return {
      until() {
        if (now() - lookedAt < lookMs) return known;
        lookedAt = now();
        const found = modifiedAt(file);
        known = found >= now() + defaultRetry.maxRetryAfterMs ? 0 : found;
        return known;
      },
      tell(until) {
        // A worker that is asked to wait longer gives up, and says so. The others ask for themselves instead of waiting without a word.
        if (until - now() >= defaultRetry.maxRetryAfterMs || until <= modifiedAt(file)) return;
        try {
          mkdirSync(folder, { recursive: true, mode: 0o700 });
          writeFileSync(file, '');
          utimesSync(file, until / 1000, until / 1000);
        } catch {
          // Others will be told by the server itself.
        }
      },
    };
  };
}

function modifiedAt(file: string): number {
  try {
    return statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  } catch {
    return 0;
  }
}
