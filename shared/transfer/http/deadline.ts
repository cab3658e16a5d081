import type { ClientRequest, IncomingMessage } from 'node:http';

/** A request that took too long: `code` as Node's own errors have it. */
export class SlowError extends Error {
  readonly code = 'ETIMEDOUT';
}

/** What ends one exchange that takes too long: one limit at a time. */
export interface Deadline {
  /** Ends the exchange with a SlowError in `ms`, unless it is set anew or cleared before. */
  set(what: string, ms: number): void;
  /** The answer has begun: whoever reads it is to learn why it ended. */
  answered(answer: IncomingMessage): void;
  /** Ends the exchange when the connection brings less than 1 KiB a second in any span of `ms`. */
  pace(ms: number): void;
  clear(): void;
}

const slowestPerSecond = 1024;

/** A Deadline for `outgoing`, cleared when that is over. */
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
    answered(answer) {
      target = answer;
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
        if (moved < (slowestPerSecond * ms) / 1000) end(`only ${moved} bytes came`, ms);
      }, ms);
    },
  };
}
