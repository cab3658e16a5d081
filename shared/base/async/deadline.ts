import { ArcError } from '#shared/base/errors';

/** A bound on one operation: `signal` is aborted, with an ArcError as its reason, after the time or by the caller. */
export interface Deadline {
  signal: AbortSignal;
  /** Restarts the timer, with `ms` if given. */
  restart(ms?: number): void;
  /** Removes timer and listener. Call it in a `finally`. */
  end(): void;
}

/**
 * Starts a deadline of `ms` milliseconds (Infinity: none) that an abort of `outer` cuts short. Does not use AbortSignal.any:
 * the outer signal often lives as long as the process and would collect one dependent signal per request.
 */
export function startDeadline(ms: number, what: string, outer?: AbortSignal): Deadline {
  const control = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  let bound = ms;
  const expire = () => control.abort(new ArcError('Timeout', `${what}: no answer within ${bound} ms`));
  const restart = (next = bound) => {
    bound = next;
    clearTimeout(timer);
    if (Number.isFinite(bound) && !control.signal.aborted) timer = setTimeout(expire, bound);
  };
  const cancel = () => control.abort(cancelled(what, outer?.reason));
  if (outer?.aborted) cancel();
  outer?.addEventListener('abort', cancel, { once: true });
  restart();
  return {
    signal: control.signal,
    restart,
    end: () => {
      clearTimeout(timer);
      outer?.removeEventListener('abort', cancel);
    },
  };
}

/** Settles like `work`; rejects with Timeout after `ms`. The work itself is not stopped. */
export async function within<T>(ms: number, what: string, work: Promise<T> | T): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new ArcError('Timeout', `${what} took longer than ${ms} ms`)), ms);
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function cancelled(what: string, reason: unknown): ArcError {
  return reason instanceof ArcError
    ? reason
    : new ArcError('Timeout', `${what}: cancelled`, { cause: reason });
}
