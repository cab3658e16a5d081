import { printable, printableLines } from './printable.ts';

/**
 * The reason of a failure, named as in the Kubernetes API (metav1.StatusReason). An error keeps its code from the store through the
 * API server and the client to the function that decides about a retry.
 */
export type Code =
  | 'BadRequest'
  | 'Unauthorized'
  | 'Forbidden'
  | 'NotFound'
  | 'MethodNotAllowed'
  | 'NotAcceptable'
  | 'AlreadyExists'
  | 'Conflict'
  | 'Expired'
  | 'RequestEntityTooLarge'
  | 'UnsupportedMediaType'
  | 'Invalid'
  | 'TooManyRequests'
  | 'InternalError'
  | 'ServiceUnavailable'
  | 'Timeout';

/** One problem of one field, as metav1.StatusCause. */
export interface Cause {
  reason: string;
  message: string;
  field?: string;
}

/** As metav1.StatusDetails: the object and its problems. */
export interface ErrorDetails {
  name?: string;
  group?: string;
  kind?: string;
  uid?: string;
  causes?: Cause[];
  retryAfterSeconds?: number;
}

export interface ArcErrorOptions {
  details?: ErrorDetails;
  cause?: unknown;
  /** Preserve line breaks and tabs in the message. The caller escapes what it quotes from users. */
  multiline?: boolean;
}

/**
 * The only error that ARC throws on purpose. Its message is for the person who has to act on it. Control characters in
 * message and details are escaped here, because both quote what users wrote.
 */
export class ArcError extends Error {
  // Logs show the name of the class; a bundler may rename a class that refers to itself.
  static override readonly name = 'ArcError';
  override readonly name = 'ArcError';
  readonly code: Code;
  readonly details: ErrorDetails | undefined;

  constructor(code: Code, message: string, options: ArcErrorOptions = {}) {
    const shown = options.multiline ? printableLines(message) : printable(message);
    super(shown, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.details = options.details && printableDetails(options.details);
  }

  /** Converts a caught value to an ArcError; any other value gets `code`. */
  static from(caught: unknown, code: Code = 'InternalError'): ArcError {
    if (caught instanceof ArcError) return caught;
    if (caught instanceof Error) return new ArcError(code, caught.message, { cause: caught });
    return new ArcError(code, String(caught), { cause: caught });
  }

  /** True if `caught` is an ArcError with one of these codes. */
  static is(caught: unknown, ...codes: Code[]): caught is ArcError {
    return caught instanceof ArcError && codes.includes(caught.code);
  }
}

function printableDetails(details: ErrorDetails): ErrorDetails {
  const { name, causes } = details;
  return {
    ...details,
    ...(name !== undefined && { name: printable(name) }),
    ...(causes && { causes: causes.map(printableCause) }),
  };
}

function printableCause({ reason, message, field }: Cause): Cause {
  return { reason, message: printable(message), ...(field !== undefined && { field: printable(field) }) };
}
