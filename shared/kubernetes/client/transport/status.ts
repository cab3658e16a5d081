import { ArcError, type Code, codeForStatus, type ErrorDetails } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';

// A record, so that the compiler requires every code.
const codes: Record<Code, true> = {
  BadRequest: true,
  Unauthorized: true,
  Forbidden: true,
  NotFound: true,
  MethodNotAllowed: true,
  NotAcceptable: true,
  AlreadyExists: true,
  Conflict: true,
  Expired: true,
  RequestEntityTooLarge: true,
  UnsupportedMediaType: true,
  Invalid: true,
  TooManyRequests: true,
  InternalError: true,
  ServiceUnavailable: true,
  Timeout: true,
};

const maxTextLength = 200;

/**
 * Returns the error of a response: reason, message and details of a metav1.Status; for other bodies (a page of a proxy, plain text), the code
 * of the HTTP status and the beginning of the text.
 *
 * @param retryAfter the Retry-After header in seconds, if any
 */
export function errorFromResponse(
  status: number,
  body: string,
  what: string,
  retryAfter?: string | null,
): ArcError {
  const parsed = parseJson(body);
  const wait = /^\d{1,6}$/.test(retryAfter ?? '') ? { retryAfterSeconds: Number(retryAfter) } : {};
  if (isStatus(parsed)) return errorFromStatus(parsed, status, wait);
  const text = body.trim().slice(0, maxTextLength);
  const message = `${what}: the server responded with ${status}${text === '' ? '' : `: ${text}`}`;
  return new ArcError(codeForStatus(status), message, Object.keys(wait).length > 0 ? { details: wait } : {});
}

/** Returns the error of a Status object. @param status the HTTP status, used if the reason is unknown */
export function errorFromStatus(
  object: Record<string, unknown>,
  status = numberOr(object.code, 500),
  fallback: ErrorDetails = {},
): ArcError {
  const reason = String(object.reason ?? '');
  const code = isCode(reason) ? reason : codeForStatus(status);
  const message =
    typeof object.message === 'string' && object.message !== '' ? object.message : `${code} (${status})`;
  const details = { ...fallback, ...detailsOf(object.details) };
  return new ArcError(code, message, {
    ...(Object.keys(details).length > 0 && { details }),
    multiline: true,
  });
}

/**
 * Tells whether an error means that the object does not exist. A 404 without an object name means that the kind is not served (not installed,
 * or not registered yet).
 */
export function isGone(caught: unknown): boolean {
  return ArcError.is(caught, 'NotFound') && caught.details?.name !== undefined;
}

function isStatus(value: unknown): value is Record<string, unknown> {
  return isRecord(value) && value.kind === 'Status';
}

function isCode(reason: string): reason is Code {
  return Object.hasOwn(codes, reason);
}

function detailsOf(value: unknown): ErrorDetails {
  if (!isRecord(value)) return {};
  const { name, group, kind, uid, causes, retryAfterSeconds } = value;
  return {
    ...(typeof name === 'string' && { name }),
    ...(typeof group === 'string' && { group }),
    ...(typeof kind === 'string' && { kind }),
    ...(typeof uid === 'string' && { uid }),
    ...(Array.isArray(causes) && { causes: causes.filter(isRecord).map(causeOf) }),
    ...(typeof retryAfterSeconds === 'number' && retryAfterSeconds > 0 && { retryAfterSeconds }),
  };
}

function causeOf(value: Record<string, unknown>) {
  const { reason, message, field } = value;
  return {
    reason: String(reason ?? ''),
    message: String(message ?? ''),
    ...(typeof field === 'string' && { field }),
  };
}

function numberOr(value: unknown, otherwise: number): number {
  return typeof value === 'number' ? value : otherwise;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Not JSON: the caller falls back to the text.
    return undefined;
  }
}
