import type { Cause } from '#shared/base/errors';
import { badRequest, invalidOf } from '../errors/api-errors.ts';

const durations = /^(\d+|(\d+(\.\d*)?(ns|us|µs|ms|s|m|h))+)$/;

/** Throws BadRequest unless `timeout` is a Go duration or seconds. */
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

/** Throws Invalid for an unknown `fieldValidation` of a write. */
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

/** Reads `dryRun` of a query; Invalid for any other value than `All`. */
export function isDryRun(query: URLSearchParams, kind: string): boolean {
  const values = query.getAll('dryRun');
  if (values.every((value) => value === 'All')) return values.length > 0;
  const message = `Unsupported value: ${JSON.stringify(values)}: supported values: "All"`;
  throw invalidOf(kind, 'meta.k8s.io', '', [{ reason: 'FieldValueNotSupported', message, field: 'dryRun' }]);
}

/** Checks fieldManager (at most 128 bytes, printable, required by apply) and `force`, which only apply accepts. */
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

/** Names the first character that cannot be printed, with the text of the Kubernetes API server. */
function unprintable(text: string): string {
  const letters = [...text];
  const at = letters.findIndex((letter) => /[^\P{C}]/u.test(letter));
  const code = (letters[at]?.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `${JSON.stringify(text.slice(0, 128)).replace('\\u0007', '\\a')}: invalid character U+${code} (at position ${at})`;
}
