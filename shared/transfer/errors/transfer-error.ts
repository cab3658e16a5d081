import { ArcError, type Code } from '#shared/errors';

/**
 * Why a transfer failed, as far as the next step depends on it: `retryable` may succeed later unchanged, `permanent`
 * never will, `denied` means the account may not do it, `auth` that the credentials are not accepted, `config` that the
 * Endpoint or the artifact is described wrongly.
 */
export type FailureReason = 'retryable' | 'permanent' | 'denied' | 'auth' | 'config';

/** The process exit code of each reason; 0 is success and 1 an unexpected failure. */
export const exitCodes: Readonly<Record<FailureReason, number>> = {
  retryable: 10,
  permanent: 11,
  denied: 12,
  auth: 13,
  config: 14,
};

const codeOf: Readonly<Record<FailureReason, Code>> = {
  retryable: 'ServiceUnavailable',
  permanent: 'BadRequest',
  denied: 'Forbidden',
  auth: 'Unauthorized',
  config: 'Invalid',
};

export interface TransferErrorOptions {
  cause?: unknown;
  /** How long the other side asked to be left alone, in milliseconds. */
  retryAfterMs?: number;
  /** False: another try within this process is pointless, though a later process may succeed. */
  again?: boolean;
}

/** A transfer that did not happen: `reason` for programs, `message` for the person who has to act. */
export class TransferError extends ArcError {
  readonly reason: FailureReason;
  readonly retryAfterMs: number | undefined;
  readonly again: boolean;

  constructor(reason: FailureReason, message: string, options: TransferErrorOptions = {}) {
    super(codeOf[reason], message, options.cause === undefined ? {} : { cause: options.cause });
    this.reason = reason;
    this.retryAfterMs = options.retryAfterMs;
    this.again = reason === 'retryable' && options.again !== false;
  }
}

/** The same failure with another message: after masking, or with the number of tries added. */
export function reworded(error: TransferError, message: string, again = error.again): TransferError {
  const retryAfter = error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs };
  return new TransferError(error.reason, message, { cause: error.cause, again, ...retryAfter });
}

/** What a transfer rejects with once `signal` is aborted: the abort's own TransferError, or a retryable one. */
export function stopped(signal: AbortSignal): TransferError {
  if (signal.reason instanceof TransferError) return signal.reason;
  const message = 'The transfer was stopped before it was complete; it can be started again safely.';
  return new TransferError('retryable', message, { cause: signal.reason, again: false });
}

/** Throws `stopped(signal)` if the signal is aborted. */
export function throwIfStopped(signal: AbortSignal): void {
  if (signal.aborted) throw stopped(signal);
}
