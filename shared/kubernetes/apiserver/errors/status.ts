import { ArcError, type ErrorDetails, httpStatus } from '#shared/base/errors';

/** metav1.Status. */
export interface Status {
  kind: 'Status';
  apiVersion: 'v1';
  metadata: { continue?: string };
  status: 'Success' | 'Failure';
  message?: string;
  reason?: string;
  details?: ErrorDetails;
  code?: number;
}

/** An Expired error with a continue token for an inconsistent continuation of the list. */
export class ExpiredContinue extends ArcError {
  readonly token: string;

  constructor(message: string, token: string) {
    super('Expired', message);
    this.token = token;
  }
}

/** Returns the Status of an error. Omits the message of errors other than ArcError, which may expose internals. */
export function toStatus(caught: unknown): Status & { code: number } {
  if (!(caught instanceof ArcError)) {
    const message = 'Internal error occurred: the server failed while it handled the request';
    return failure('InternalError', message, { causes: [] }, 500);
  }
  const status = failure(caught.code, caught.message, caught.details, httpStatus(caught.code));
  if (caught instanceof ExpiredContinue) status.metadata = { continue: caught.token };
  return status;
}

function failure(
  reason: string,
  message: string,
  details: ErrorDetails | undefined,
  code: number,
): Status & { code: number } {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure' } as const;
  return { ...status, message, reason, ...(details && { details }), code };
}

/** Tells whether to log an error: every 5xx, except for requests of a future revision. */
export function isServerError(error: ArcError): boolean {
  if (error.details?.causes?.some(({ reason }) => reason === 'ResourceVersionTooLarge')) return false;
  return httpStatus(error.code) >= 500;
}
