import { ArcError, type Cause } from '#shared/errors';
import { invalidOf } from '../errors/request-errors.ts';

/** Reads `dryRun` of a query; `All` is the only value there is (422 otherwise). */
export function isDryRun(query: URLSearchParams, kind: string): boolean {
  const values = query.getAll('dryRun');
  if (values.every((value) => value === 'All')) return values.length > 0;
  const message = `Unsupported value: ${JSON.stringify(values)}: supported values: "All"`;
  throw invalidOf(kind, 'meta.k8s.io', '', [{ reason: 'FieldValueNotSupported', message, field: 'dryRun' }]);
}

/** fieldManager: at most 128 printable characters, and needed by apply, to which alone `force` belongs. */
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

/** The first character that cannot be printed, in the words of the Kubernetes API server. */
function unprintable(text: string): string {
  const letters = [...text];
  const at = letters.findIndex((letter) => /[^\P{C}]/u.test(letter));
  const code = (letters[at]?.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
  return `${JSON.stringify(text.slice(0, 128)).replace('\\u0007', '\\a')}: invalid character U+${code} (at position ${at})`;
}

/** Writers that lose a race this often give up: something rewrites the object without pause. */
export const writeAttempts = 64;

export function contended(name: string): ArcError {
  return new ArcError(
    'ServiceUnavailable',
    `"${name}" is written so often that this write found no gap; try again`,
    {
      details: { retryAfterSeconds: 1 },
    },
  );
}
