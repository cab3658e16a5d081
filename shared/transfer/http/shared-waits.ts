import { createHash } from 'node:crypto';
import { closeSync, constants, futimesSync, lstatSync, mkdirSync, openSync } from 'node:fs';
import path from 'node:path';
import { defaultRetry } from './retry.ts';

/** The Retry-After of one account at one server, shared by the workers of a machine. */
export interface SharedWaits {
  /** The remaining wait in milliseconds, if another worker recorded a new one since the last call; otherwise 0. */
  newWait(): number;
  record(waitMs: number): void;
}

/** Minimum interval between two reads of the shared file. */
const pollIntervalMs = 100;
const maxWaitMs = defaultRetry.maxRetryAfterMs;
/** Follows no symbolic link, and does not block on a pipe. */
const openFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Returns the shared waits in a folder: one empty file per account and server, whose modification time is the end of the wait. A worker that
 * cannot read or write the folder relies on its own responses. A time further ahead than the longest Retry-After is ignored.
 */
export function sharedWaitsIn(folder: string, now: () => number = Date.now): (place: string) => SharedWaits {
  return (place) => {
    // A hash, because names of servers and accounts must not form a path.
    const file = path.join(folder, createHash('sha256').update(place).digest('hex').slice(0, 32));
    let polledAt = Number.NEGATIVE_INFINITY;
    /** The end of the latest wait that this worker knows, in milliseconds since the epoch. */
    let known = 0;

    /** Milliseconds until then; 0 if that has passed or is implausibly far ahead. */
    const remaining = (until: number) => (until - now() < maxWaitMs ? Math.max(0, until - now()) : 0);

    return {
      newWait() {
        // `abs`: the clock may have been set back.
        if (Math.abs(now() - polledAt) < pollIntervalMs) return 0;
        polledAt = now();
        const until = modifiedAt(file);
        if (until === known) return 0;
        known = until;
        return remaining(until);
      },
      record(waitMs) {
        // A longer wait fails this worker with an explanation. The others ask the server themselves instead of waiting silently.
        if (waitMs >= maxWaitMs || waitMs <= remaining(modifiedAt(file))) return;
        known = Math.round(now() + waitMs);
        try {
          mkdirSync(folder, { recursive: true, mode: 0o700 });
          setModified(file, known);
        } catch {
          // The server will tell the other workers itself.
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

/** The modification time in whole milliseconds; 0 if there is no such file. */
function modifiedAt(file: string): number {
  try {
    const found = lstatSync(file, { throwIfNoEntry: false });
    return found?.isFile() ? Math.round(found.mtimeMs) : 0;
  } catch {
    return 0;
  }
}
