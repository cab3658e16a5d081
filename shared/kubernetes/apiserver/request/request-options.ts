import { badRequest, invalidOf } from '../errors/request-errors.ts';

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
