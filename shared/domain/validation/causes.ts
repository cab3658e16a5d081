import type { Cause } from '#shared/base/errors';
import { isLabelValue, isObjectName } from '../identity/names.ts';
import { durationProblem, invalid, quoted, required } from '../values/causes.ts';
import { deepestNesting, longestObjectName } from '../values/limits.ts';

/** Checks of one field. Each returns a metav1.StatusCause for every problem, and an empty list for a valid value. */

/** Problems reported per list: a list may have thousands of items. */
const mostOfList = 101;

/** Returns the problems of a list's items, in order, up to `mostOfList`. */
export function listCauses<T>(items: Iterable<T>, causesOf: (item: T) => Cause[]): Cause[] {
  const causes: Cause[] = [];
  for (const item of items) {
    causes.push(...causesOf(item));
    if (causes.length >= mostOfList) break;
  }
  return causes;
}

/** Checks that every item has a name and that names are unique. `field` is the field of the list. */
export function uniqueNames(
  field: string,
  names: ReadonlyArray<string | undefined>,
  optional = false,
): Cause[] {
  const seen = new Set<string>();
  return listCauses(names.entries(), ([index, name]) => {
    const at = `${field}[${index}].name`;
    if (name === undefined) return optional ? [] : [required(at, 'a name')];
    if (name === '') return [required(at, 'it must not be empty')];
    if (seen.has(name))
      return [{ reason: 'FieldValueDuplicate', field: at, message: `Duplicate value: ${quoted(name)}` }];
    seen.add(name);
    return [];
  });
}

/** Checks parameters by Argo's rules: unique names of letters, digits, `-` and `_`. */
export function parameterCauses(
  field: string,
  parameters: ReadonlyArray<{ name: string; value: string }> = [],
): Cause[] {
  const bad = listCauses(parameters.entries(), ([index, { name }]) =>
    name !== '' && !/^[-a-zA-Z0-9_]+$/.test(name)
      ? [
          invalid(
            `${field}[${index}].name`,
            `Invalid value: ${quoted(name)}: only letters, digits, - and _ are allowed`,
          ),
        ]
      : [],
  );
  return [
    ...uniqueNames(
      field,
      parameters.map(({ name }) => name),
    ),
    ...bad,
    ...templateCauses(field, parameters),
  ];
}

/** Checks a duration: valid, not negative and at most ten years. */
export function durationCauses(field: string, value: string | undefined): Cause[] {
  if (value === undefined) return [];
  const problem = durationProblem(value);
  return problem === undefined ? [] : [invalid(field, `Invalid value: ${quoted(value)}: ${problem}`)];
}

/** Checks the name in a reference: present and a valid object name. */
export function nameCauses(field: string, value: string | undefined): Cause[] {
  if (value === undefined) return [];
  if (value === '') return [required(field, 'it must not be empty')];
  if (isObjectName(value)) return [];
  const shown = value.length <= longestObjectName ? value : `${value.slice(0, 60)}…`;
  return [
    invalid(
      field,
      `Invalid value: "${shown}": no object can have this name: up to ${longestObjectName} lower case letters, digits, '-' and '.', the first and the last a letter or digit`,
    ),
  ];
}

export function queueCauses(field: string, value: string | undefined): Cause[] {
  if (value === undefined || (value !== '' && isLabelValue(value))) return [];
  return [
    invalid(field, `Invalid value: ${quoted(value)}: must be the name of a LocalQueue, usable as a label`),
  ];
}

/**
 * Refuses texts that contain `{{`, keys included: Argo substitutes a submitted spec as a whole, so a user's value could
 * read other parameters or run expressions in its controller. Also refuses values that are nested too deep.
 */
export function templateCauses(field: string, value: unknown): Cause[] {
  const causes: Cause[] = [];
  addTemplateCauses(causes, field, value, 0);
  return causes;
}

/** Problems reported per field. */
const mostCauses = 20;

function addTemplateCauses(causes: Cause[], field: string, value: unknown, depth: number): void {
  if (causes.length >= mostCauses) return;
  if (typeof value === 'string') causes.push(...bracesIn(field, value));
  if (typeof value !== 'object' || value === null) return;
  if (depth > deepestNesting) {
    causes.push(invalid(field, `Invalid value: nested more than ${deepestNesting} levels deep`));
    return;
  }
  const isList = Array.isArray(value);
  for (const [key, inner] of Object.entries(value)) {
    const at = isList ? `${field}[${key}]` : `${field}.${key}`;
    if (!isList) causes.push(...bracesIn(at, key));
    addTemplateCauses(causes, at, inner, depth + 1);
  }
}

function bracesIn(field: string, text: string): Cause[] {
  if (!text.includes('{{')) return [];
  return [invalid(field, 'Invalid value: must not contain "{{", which Argo would evaluate')];
}
