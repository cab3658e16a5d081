import { printable, printableLines } from './printable.ts';

/**
 * What went wrong, in the words of the Kubernetes API (metav1.StatusReason), so that an error keeps its meaning
 * from the store through the API server and the client to the function that has to decide about a retry.
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

/** One thing that is wrong with one field, as metav1.StatusCause carries it. */
export interface Cause {
  reason: string;
  message: string;
  field?: string;
}

/** As metav1.StatusDetails: which object, and what of it. */
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
  /** The message has lines: its line breaks and tabs stay. What it quotes of users is escaped before. */
  multiline?: boolean;
}

/**
 * The only error the conduit throws on purpose. Its message is for the person who has to act on it. Control characters in
 * message and details are escaped here, because both quote what users wrote.
 */
export class ArcError extends Error {
  // Logs show the name of the class, which a bundler changes where a class speaks of itself.
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

  /** Turns whatever was caught into an ArcError; what we did not throw ourselves is an InternalError. */
  static from(caught: unknown, code: Code = 'InternalError'): ArcError {
    if (caught instanceof ArcError) return caught;
    if (caught instanceof Error) return new ArcError(code, caught.message, { cause: caught });
    return new ArcError(code, String(caught), { cause: caught });
  }

  /** True if `caught` is an ArcError of one of these codes. */
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
