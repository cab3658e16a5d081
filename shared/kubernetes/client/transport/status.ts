import { ArcError, type Code, codeForStatus, type ErrorDetails } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';

// A record, so that the compiler demands every code of the closed set.
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

const longestForeignText = 200;

/**
 * The error for an answer of the API server. A metav1.Status gives its reason, message and details; any other
 * body (a proxy's page, plain text) gives the code of the HTTP status and the start of the text.
 *
 * @param retryAfter the Retry-After header, in seconds, if there was one
 */
export function errorFromAnswer(
  status: number,
  body: string,
  what: string,
  retryAfter?: string | null,
): ArcError {
  const parsed = parseJson(body);
  const wait = /^\d{1,6}$/.test(retryAfter ?? '') ? { retryAfterSeconds: Number(retryAfter) } : {};
  if (isStatus(parsed)) return errorFromStatus(parsed, status, wait);
  const text = body.trim().slice(0, longestForeignText);
  const message = `${what}: the server answered ${status}${text === '' ? '' : `: ${text}`}`;
  return new ArcError(codeForStatus(status), message, Object.keys(wait).length > 0 ? { details: wait } : {});
}

/** The error for a Status object; `status` is the HTTP status, which counts if the object has no known reason. */
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
 * True when the object does not exist. A 404 that names no object is different: the server does not know the kind (not installed,
 * or not registered yet).
 */
export function isGone(caught: unknown): boolean {
  return ArcError.is(caught, 'NotFound') && caught.details?.name !== undefined;
}

/** True for an object of kind Status. */
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
