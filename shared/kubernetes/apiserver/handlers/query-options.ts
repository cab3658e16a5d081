import type { Cause } from '#shared/base/errors';
import { badRequest, invalidOf } from '../errors/api-errors.ts';
import { isTrue } from '../request/request-info.ts';

const durations = /^(\d+|(\d+(\.\d*)?(ns|us|µs|ms|s|m|h))+)$/;

/** Throws BadRequest unless `timeout` is a Go duration or a number of seconds. */
export function checkTimeout(query: URLSearchParams): void {
  const text = query.get('timeout') ?? '';
  if (text === '' || durations.test(text)) return;
  const shown = JSON.stringify(text.slice(0, 100));
  throw badRequest(`invalid timeout specified in the request URL - time: invalid duration ${shown}`);
}

const optionsOf = new Map([
  ['create', 'CreateOptions'],
  ['update', 'UpdateOptions'],
  ['patch', 'PatchOptions'],
]);
const modes = ['', 'Ignore', 'Strict', 'Warn'];

/** Throws Invalid if a write has an unknown `fieldValidation` mode. */
export function checkFieldValidation(query: URLSearchParams, verb: string): void {
  const options = optionsOf.get(verb);
  const mode = query.get('fieldValidation') ?? '';
  if (options === undefined || modes.includes(mode)) return;
  const supported = modes.map((one) => JSON.stringify(one)).join(', ');
  const message = `Unsupported value: ${JSON.stringify(mode.slice(0, 100))}: supported values: ${supported}`;
  throw invalidOf(options, 'meta.k8s.io', '', [
    { reason: 'FieldValueNotSupported', message, field: 'fieldValidation' },
  ]);
}

/** Tells whether a query has `dryRun=All`. Throws Invalid for other values. */
export function isDryRun(query: URLSearchParams, kind: string): boolean {
  const values = query.getAll('dryRun');
  if (values.every((value) => value === 'All')) return values.length > 0;
  const message = `Unsupported value: ${JSON.stringify(values)}: supported values: "All"`;
  throw invalidOf(kind, 'meta.k8s.io', '', [{ reason: 'FieldValueNotSupported', message, field: 'dryRun' }]);
}

/** Validates `fieldManager` (at most 128 bytes, printable, required by apply) and `force` (apply only). Throws Invalid. */
export function checkManager(query: URLSearchParams, kind: string, apply = false): void {
  const causes: Cause[] = [];
  const manager = query.get('fieldManager') ?? '';
  if (apply && manager === '') {
    const message = 'Required value: is required for apply patch';
    causes.push({ reason: 'FieldValueRequired', message, field: 'fieldManager' });
  }
  if (Buffer.byteLength(manager) > 128) {
    causes.push({
      reason: 'FieldValueTooLong',
      message: 'Too long: may not be more than 128 bytes',
      field: 'fieldManager',
    });
  }
  if (/[^\P{C}]/u.test(manager)) {
    causes.push({
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${unprintable(manager)}`,
      field: 'fieldManager',
    });
  }
  if (kind === 'PatchOptions' && !apply && query.has('force')) {
    const message = 'Forbidden: may not be specified for non-apply patch';
    causes.push({ reason: 'FieldValueForbidden', message, field: 'force' });
  }
  if (causes.length > 0) throw invalidOf(kind, 'meta.k8s.io', '', causes);
}

/** Returns kube-apiserver's message about the first unprintable character. */
function unprintable(text: string): string {
  const letters = [...text];
  const at = letters.findIndex((letter) => /[^\P{C}]/u.test(letter));
  const code = (letters[at]?.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `${JSON.stringify(text.slice(0, 128)).replace('\\u0007', '\\a')}: invalid character U+${code} (at position ${at})`;
}

/** metav1.ListOptions: the query of a list, watch or deletecollection, validated. */
export interface ListOptions {
  labelSelector: string;
  fieldSelector: string;
  /** Items per page; 0: no limit. */
  limit: number;
  continue: string;
  /** Undefined: the newest state. 0: any state. */
  resourceVersion: number | undefined;
  match: '' | 'NotOlderThan' | 'Exact';
  allowBookmarks: boolean;
  /** Undefined: not specified. */
  sendInitialEvents: boolean | undefined;
  /** Watch only. */
  timeoutSeconds: number | undefined;
}

/** Returns validated ListOptions, as ValidateListOptions of k8s.io/apimachinery. Throws BadRequest or Invalid. */
export function listOptions(query: URLSearchParams, watching: boolean): ListOptions {
  const initial = query.get('sendInitialEvents');
  const options: ListOptions = {
    labelSelector: query.get('labelSelector') ?? '',
    fieldSelector: query.get('fieldSelector') ?? '',
    limit: Math.max(0, wholeNumber(query, 'limit') ?? 0),
    continue: query.get('continue') ?? '',
    resourceVersion: revisionOf(query.get('resourceVersion')),
    match: (query.get('resourceVersionMatch') ?? '') as ListOptions['match'],
    allowBookmarks: isTrue(query.get('allowWatchBookmarks')),
    sendInitialEvents: initial === null ? undefined : isTrue(initial),
    timeoutSeconds: notNegative(wholeNumber(query, 'timeoutSeconds')),
  };
  const causes = watching ? watchCauses(options) : listCauses(options);
  if (causes.length > 0) throw invalidOf('ListOptions', 'meta.k8s.io', '', causes);
  if (!watching && options.continue !== '' && (options.resourceVersion ?? 0) > 0) {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  return options;
}

/** Parses the resourceVersion of a query; undefined if unset. Throws BadRequest. */
export function revisionOf(text: string | null): number | undefined {
  if (text === null || text === '') return undefined;
  const value = Number(text);
  const decimal = /^[0-9]+$/.test(text);
  if (decimal && Number.isSafeInteger(value)) return value;
  const reason = decimal ? 'value out of range' : 'invalid syntax';
  throw badRequest(
    `invalid resource version: resourceVersion: Invalid value: ${shown(text)}: strconv.ParseUint: parsing ${shown(text)}: ${reason}`,
  );
}

const shown = (text: string) => JSON.stringify(text.slice(0, 200));

function notNegative(value: number | undefined): number | undefined {
  if (value === undefined || value >= 0) return value;
  throw badRequest(`invalid value ${value} for timeoutSeconds: it must not be negative`);
}

/** Parses an integer of a query; undefined if unset. Throws BadRequest. */
export function wholeNumber(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name);
  if (text === null) return undefined;
  if (!/^-?[0-9]{1,15}$/.test(text))
    throw badRequest(`strconv.ParseInt: parsing ${shown(text)}: invalid syntax`);
  return Number(text);
}

const field = 'resourceVersionMatch';
const forbidden = (message: string, at = field): Cause => ({
  reason: 'FieldValueForbidden',
  message: `Forbidden: ${message}`,
  field: at,
});

function unsupported(match: string, supported: readonly string[]): Cause {
  const list = supported.map((one) => JSON.stringify(one)).join(', ');
  const message = `Unsupported value: ${shown(match)}: supported values: ${list}`;
  return { reason: 'FieldValueNotSupported', message, field };
}

function watchCauses(options: ListOptions): Cause[] {
  const { match, sendInitialEvents } = options;
  const given = match as string;
  const causes: Cause[] = [];
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan')
    causes.push(forbidden('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'));
  if (sendInitialEvents === undefined && given !== '')
    causes.push(
      forbidden('resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'),
    );
  if (given !== '' && match !== 'NotOlderThan') causes.push(unsupported(given, ['NotOlderThan']));
  if (options.continue !== '')
    causes.push(forbidden('resourceVersionMatch is forbidden when continue is provided'));
  return causes;
}

function listCauses(options: ListOptions): Cause[] {
  const { match, resourceVersion, sendInitialEvents } = options;
  const causes: Cause[] = [];
  if (match !== '') {
    if (resourceVersion === undefined)
      causes.push(forbidden('resourceVersionMatch is forbidden unless resourceVersion is provided'));
    if (options.continue !== '')
      causes.push(forbidden('resourceVersionMatch is forbidden when continue is provided'));
    if (match !== 'Exact' && match !== 'NotOlderThan')
      causes.push(unsupported(match, ['Exact', 'NotOlderThan', '']));
    if (match === 'Exact' && resourceVersion === 0)
      causes.push(forbidden('resourceVersionMatch "exact" is forbidden for resourceVersion "0"'));
  }
  if (sendInitialEvents !== undefined)
    causes.push(forbidden('sendInitialEvents is forbidden for list', 'sendInitialEvents'));
  return causes;
}
