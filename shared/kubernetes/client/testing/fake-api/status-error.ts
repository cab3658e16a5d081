import { ArcError, httpStatus } from '#shared/base/errors';
import { type ApiRequest, groupOf } from './resources.ts';

/** Returns the Status of an error. */
export function statusOf(error: ArcError): { code: number } & Record<string, unknown> {
  const { code: reason, message, details } = error;
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    ...(details && { details }),
    code: httpStatus(reason),
  };
}

export function notFound(request: ApiRequest): ArcError {
  return new ArcError('NotFound', `${qualified(request)} "${request.name}" not found`, {
    details: of(request),
  });
}

export function alreadyExists(request: ApiRequest, name: string, isDeleting: boolean): ArcError {
  const why = isDeleting ? 'object is being deleted: ' : '';
  const message = `${why}${qualified(request)} "${name}" already exists`;
  return new ArcError('AlreadyExists', message, { details: { ...of(request), name } });
}

export function conflict(
  request: ApiRequest,
  why = 'the object has been modified; please apply your changes to the latest version and try again',
  resource = request.resource,
): ArcError {
  const about = { ...request, resource };
  const message = `Operation cannot be fulfilled on ${qualified(about)} "${request.name}": ${why}`;
  return new ArcError('Conflict', message, { details: of(about) });
}

/** @param kind used instead of the resource in errors about content */
export function invalid(
  { apiVersion }: ApiRequest,
  kind: string,
  name: string,
  [reason, field, message]: readonly [reason: string, field: string, message: string],
): ArcError {
  const group = groupOf(apiVersion);
  const what = group === '' ? kind : `${kind}.${group}`;
  const details = {
    ...(name !== '' && { name }),
    ...(group !== '' && { group }),
    kind,
    causes: [{ reason, message, field }],
  };
  return new ArcError('Invalid', `${what} ${JSON.stringify(name)} is invalid: ${field}: ${message}`, {
    details,
  });
}

function qualified({ apiVersion, resource }: ApiRequest): string {
  const group = groupOf(apiVersion);
  return group === '' ? resource : `${resource}.${group}`;
}

function of({ apiVersion, resource, name }: ApiRequest) {
  const group = groupOf(apiVersion);
  return { name, ...(group !== '' && { group }), kind: resource };
}
