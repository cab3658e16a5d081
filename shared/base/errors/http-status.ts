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

/** Returns the HTTP status of a code (k8s.io/apimachinery, pkg/api/errors). */
export function httpStatus(code: Code): number {
  return statusOf[code];
}

/** Returns the code of an answer whose body is not a Status: Conflict for 409, BadRequest for unknown 4xx. */
export function codeForStatus(status: number): Code {
  if (status === 409) return 'Conflict';
  const exact = (Object.keys(statusOf) as Code[]).find((code) => statusOf[code] === status);
  if (exact) return exact;
  return status >= 400 && status < 500 ? 'BadRequest' : 'ServiceUnavailable';
}
