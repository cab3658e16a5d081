import type { Code } from './arc-error.ts';

const statusOf: Record<Code, number> = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  RequestEntityTooLarge: 413,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  ServiceUnavailable: 503,
  Timeout: 504,
};

/** The HTTP status a code travels with (k8s.io/apimachinery, pkg/api/errors). */
export function httpStatus(code: Code): number {
  return statusOf[code];
}

/** The code to assume for an answer whose body is no Status: 409 reads as Conflict, unknown 4xx as BadRequest. */
export function codeForStatus(status: number): Code {
  if (status === 409) return 'Conflict';
  const exact = (Object.keys(statusOf) as Code[]).find((code) => statusOf[code] === status);
  if (exact) return exact;
  return status >= 400 && status < 500 ? 'BadRequest' : 'ServiceUnavailable';
}
