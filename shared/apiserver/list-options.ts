import type { Cause } from '#shared/errors';
import { badRequest, invalidOf } from './status.ts';
import { isTrue } from './target.ts';

/** Query of a list or watch, read and judged. */
export interface ListRequest {
  labelSelector: string;
  fieldSelector: string;
  /** Items per page; 0 = all. */
  limit: number;
  continue: string;
  /** Undefined: the newest state. 0: any state. */
  resourceVersion: number | undefined;
  match: '' | 'NotOlderThan' | 'Exact';
  allowBookmarks: boolean;
  /** Undefined where the client did not say. */
  sendInitialEvents: boolean | undefined;
  /** Watch only. */
  timeoutSeconds: number | undefined;
}

/** Rules of ValidateListOptions (k8s.io/apimachinery); rejects with BadRequest or Invalid. */
export function listRequest(query: URLSearchParams, watching: boolean): ListRequest {
  const initial = query.get('sendInitialEvents');
  const request: ListRequest = {
    labelSelector: query.get('labelSelector') ?? '',
    fieldSelector: query.get('fieldSelector') ?? '',
    limit: wholeNumber(query, 'limit') ?? 0,
    continue: query.get('continue') ?? '',
    resourceVersion: revisionOf(query.get('resourceVersion')),
    match: (query.get('resourceVersionMatch') ?? '') as ListRequest['match'],
    allowBookmarks: isTrue(query.get('allowWatchBookmarks')),
    sendInitialEvents: initial === null ? undefined : isTrue(initial),
    timeoutSeconds: wholeNumber(query, 'timeoutSeconds'),
  };
  const causes = watching ? watchCauses(request) : listCauses(request);
  if (causes.length > 0) throw invalidOf('ListOptions', 'meta.k8s.io', '', causes);
  if (!watching && request.continue !== '' && (request.resourceVersion ?? 0) > 0) {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  return request;
}

/** A resourceVersion of a query: a plain decimal without sign or leading zeros, or nothing. */
export function revisionOf(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  const value = Number(text);
  if (/^(0|[1-9][0-9]*)$/.test(text) && Number.isSafeInteger(value)) return value;
  throw badRequest(`invalid resource version "${text}": it must be a decimal number`);
}

function wholeNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  if (!/^[0-9]{1,15}$/.test(text))
    throw badRequest(`invalid value "${text}" for ${name}: it must be a whole number`);
  return Number(text);
}

const forbidden = (field: string, message: string): Cause => ({
  reason: 'FieldValueForbidden',
  message: `Forbidden: ${message}`,
  field,
});

function watchCauses(request: ListRequest): Cause[] {
  const { match, sendInitialEvents } = request;
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    const text = 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan';
    return [forbidden('resourceVersionMatch', text)];
  }
  if (sendInitialEvents === undefined && match !== '') {
    return [
      forbidden(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    ];
  }
  return [];
}

function listCauses(request: ListRequest): Cause[] {
  const { match, resourceVersion } = request;
  if (request.sendInitialEvents !== undefined) {
    return [forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list')];
  }
  if (match === '') return [];
  if (request.continue !== '') {
    return [forbidden('resourceVersionMatch', 'resourceVersionMatch is forbidden when continue is provided')];
  }
  if (resourceVersion === undefined) {
    return [
      forbidden(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden unless resourceVersion is provided',
      ),
    ];
  }
  if (match !== 'Exact' && match !== 'NotOlderThan') {
    const message = `Unsupported value: "${match}": supported values: "Exact", "NotOlderThan"`;
    return [{ reason: 'FieldValueNotSupported', message, field: 'resourceVersionMatch' }];
  }
  if (match === 'Exact' && resourceVersion === 0) {
    return [
      forbidden('resourceVersionMatch', 'resourceVersionMatch "Exact" is forbidden for resourceVersion "0"'),
    ];
  }
  return [];
}
