import type { ClientRequest, IncomingMessage } from 'node:http';
import { bytesText } from '#shared/base/errors';

/** A request that exceeded a deadline, with the code of Node's own timeouts. */
export class SlowError extends Error {
  readonly code = 'ETIMEDOUT';
}

/** Aborts an exchange that takes too long; one limit applies at a time. */
export interface Deadline {
  /** Aborts the exchange with a SlowError in `ms`, unless the deadline is set again or cleared before. */
  set(what: string, ms: number): void;
  /** Records that the response has begun: from now on its reader gets the error. */
  responded(response: IncomingMessage): void;
  /** Aborts the exchange when fewer than 1 KiB per second arrive over any span of `ms`. */
  pace(ms: number): void;
  clear(): void;
}

const minBytesPerSecond = 1024;

/** Creates the deadline of `outgoing`, which is cleared when the request closes. */
export function createDeadline(outgoing: ClientRequest): Deadline {
  let timer: NodeJS.Timeout | undefined;
  let target: ClientRequest | IncomingMessage = outgoing;
  const clear = (): void => clearTimeout(timer);
  const end = (what: string, ms: number): void => {
    clear();
    target.destroy(new SlowError(`${what} for ${Math.round(ms / 1000)} s`));
  };
  outgoing.once('close', clear);
  return {
    clear,
    responded(response) {
      target = response;
    },
    set(what, ms) {
      clear();
      timer = setTimeout(end, ms, what, ms);
    },
    pace(ms) {
      clear();
      const { socket } = outgoing;
      let before = socket?.bytesRead ?? 0;
      timer = setInterval(() => {
        const moved = (socket?.bytesRead ?? 0) - before;
        before += moved;
        if (moved < (minBytesPerSecond * ms) / 1000) end(`received only ${bytesText(moved)}`, ms);
      }, ms);
    },
  };
}
