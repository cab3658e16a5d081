import { ArcError, type ErrorDetails, httpStatus } from '#shared/base/errors';

/** metav1.Status as it is sent. */
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

/** A failure whose Status carries list metadata: a token with which the list continues, no longer at one revision. */
export class ExpiredContinue extends ArcError {
  readonly token: string;

  constructor(message: string, token: string) {
    super('Expired', message);
    this.token = token;
  }
}

/** The Status body of an error. Any other error than an ArcError is reported without its message, which may show internals. */
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

/** True for a failure that belongs in the server's log: a 5xx, except of clients that ask for a revision still to come. */
export function isServerError(error: ArcError): boolean {
  if (error.details?.causes?.some(({ reason }) => reason === 'ResourceVersionTooLarge')) return false;
  return httpStatus(error.code) >= 500;
}
