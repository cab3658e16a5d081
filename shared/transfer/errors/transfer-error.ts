import { ArcError, type Code, shortageIn } from '#shared/base/errors';

/**
 * Why a transfer failed: `retryable` may succeed later unchanged, `permanent` cannot succeed, `denied` means that the account lacks a
 * right, `auth` that the credentials are missing or not accepted, `config` that the Endpoint or the artifact is configured wrongly,
 * `denied-by-policy` that a rule of the operator does not let the artifact pass.
 */
export type FailureReason = 'retryable' | 'permanent' | 'denied' | 'auth' | 'config' | 'denied-by-policy';

/** The process exit code of each reason; 0 is success and 1 an unexpected failure. */
export const exitCodes: Readonly<Record<FailureReason, number>> = {
  retryable: 10,
  permanent: 11,
  denied: 12,
  auth: 13,
  config: 14,
  'denied-by-policy': 15,
};

const codeOf: Readonly<Record<FailureReason, Code>> = {
  retryable: 'ServiceUnavailable',
  permanent: 'BadRequest',
  denied: 'Forbidden',
  auth: 'Unauthorized',
  config: 'Invalid',
  'denied-by-policy': 'Forbidden',
};

export interface TransferErrorOptions {
  cause?: unknown;
  /** How long the server asked to wait, in milliseconds. */
  retryAfterMs?: number;
  /** False: another attempt of this process is pointless, although a later process may succeed. */
  again?: boolean;
}

/** A failed transfer: `reason` is for programs, `message` for the person who has to act. */
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

/** A selection of tags or repositories that nothing fits. A bundle that was made of it before may still be as it was. */
export class NothingSelected extends TransferError {
  constructor(message: string) {
    super('permanent', message);
  }
}

/** The same failure with another message: masked, or with the number of attempts. */
export function reworded(error: TransferError, message: string, again = error.again): TransferError {
  const retryAfter = error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs };
  return new TransferError(error.reason, message, { cause: error.cause, again, ...retryAfter });
}

/**
 * A failure for which this machine was short of something, such as open files, as a retryable one: whatever it seemed to say of an Endpoint or
 * an artifact. Any other failure as it is.
 */
export function explainShortage(caught: unknown): unknown {
  const shortage = shortageIn(caught);
  if (shortage === undefined || (caught instanceof TransferError && caught.reason === 'retryable'))
    return caught;
  const detail = caught instanceof Error ? caught.message.replace(/\.$/, '') : String(caught);
  const message = `${detail}. That says nothing of the artifact: ${shortage}. Another attempt may succeed.`;
  return new TransferError('retryable', message, { cause: caught, again: false });
}

/** The error of a transfer whose `signal` is aborted: the reason of the signal if it is a TransferError, else a retryable one. */
export function stopped(signal: AbortSignal): TransferError {
  if (signal.reason instanceof TransferError) return signal.reason;
  const message = 'The transfer was stopped before it was complete; it can safely run again.';
  return new TransferError('retryable', message, { cause: signal.reason, again: false });
}

/** Throws `stopped(signal)` if the signal is aborted. */
export function throwIfStopped(signal: AbortSignal): void {
  if (signal.aborted) throw stopped(signal);
}
