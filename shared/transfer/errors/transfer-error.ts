import { ArcError, type Code, shortageIn } from '#shared/base/errors';

/**
 * Why a transfer failed: `retryable` may succeed later unchanged, `permanent` cannot succeed, `denied` means that the account lacks a
 * permission, `auth` that the credentials are missing or rejected, `config` that the Endpoint or the artifact is misconfigured,
 * `denied-by-policy` that a policy of the operator denies the artifact.
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
  /** The server's Retry-After, in milliseconds. */
  retryAfterMs?: number;
  /** False if this process must not retry, although a later process may succeed. */
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

/** A selection of tags, repositories or files that matches nothing. An existing bundle of that selection may still be unchanged. */
export class EmptySelectionError extends TransferError {
  constructor(message: string) {
    super('permanent', message);
  }
}

/** Returns the same failure with another message: masked, or with the number of attempts. */
export function withMessage(error: TransferError, message: string, again = error.again): TransferError {
  const retryAfter = error.retryAfterMs === undefined ? {} : { retryAfterMs: error.retryAfterMs };
  return new TransferError(error.reason, message, { cause: error.cause, again, ...retryAfter });
}

/**
 * Turns a failure into a retryable one if this machine ran out of a resource, such as file descriptors: the failure then says nothing about
 * an Endpoint or an artifact. Returns any other failure unchanged.
 */
export function explainShortage(caught: unknown): unknown {
  const shortage = shortageIn(caught);
  if (shortage === undefined || (caught instanceof TransferError && caught.reason === 'retryable'))
    return caught;
  const detail = caught instanceof Error ? caught.message.replace(/\.$/, '') : String(caught);
  const message = `${detail}. The artifact is not the cause: ${shortage}. Another attempt may succeed.`;
  return new TransferError('retryable', message, { cause: caught, again: false });
}

/** The error of an aborted transfer: the signal's reason if that is a TransferError, otherwise a retryable error. */
export function abortError(signal: AbortSignal): TransferError {
  if (signal.reason instanceof TransferError) return signal.reason;
  const message = 'The transfer was stopped before it was complete; it can safely run again.';
  return new TransferError('retryable', message, { cause: signal.reason, again: false });
}

/** Throws `abortError(signal)` if the signal is aborted. */
export function throwIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw abortError(signal);
}
