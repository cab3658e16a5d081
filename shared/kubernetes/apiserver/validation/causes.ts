import type { z } from 'zod';
import type { Cause } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';

type Issue = z.core.$ZodIssue;

/** Formats a value for an error message; a kind with secrets redacts it. */
export type Show = (value: unknown) => string;

/** Limit of causes in a response: a body can contain a hundred thousand errors. */
export const maxCauses = 100;

const typeNames: Readonly<Record<string, string>> = { int: 'integer', record: 'object', map: 'object' };

function typeOf(expected: string): string {
  return typeNames[expected] ?? expected;
}

function valueAt(root: unknown, steps: readonly Step[]): unknown {
  let value = root;
  for (const step of steps) {
    if (Array.isArray(value)) value = value[Number(step)];
    else value = isRecord(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}

export function typeCause(field: string, value: unknown, expected: string): Cause {
  const is = typeName(value);
  return {
    reason: 'FieldValueTypeInvalid',
    message: `Invalid value: "${is}": ${field} in body must be of type ${expected}: "${is}"`,
    field,
  };
}

function notSupported(field: string, value: unknown, supported: readonly unknown[], show: Show): Cause {
  const list = supported.map((one) => JSON.stringify(String(one))).join(', ');
  return {
    reason: 'FieldValueNotSupported',
    message: `Unsupported value: ${show(value)}: supported values: ${list}`,
    field,
  };
}

function invalid(field: string, value: unknown, detail: string, show: Show): Cause {
  return { reason: 'FieldValueInvalid', message: `Invalid value: ${show(value)}: ${detail}`, field };
}

function tooBig(issue: z.core.$ZodIssueTooBig, field: string, value: unknown, show: Show): Cause {
  const most = String(issue.maximum);
  switch (issue.origin) {
    case 'string':
      return {
        reason: 'FieldValueTooLong',
        message: `Too long: may not be more than ${most} bytes`,
        field,
      };
    case 'array':
    case 'set':
      return {
        reason: 'FieldValueTooMany',
        message: `Too many: ${Array.isArray(value) ? value.length : 0}: must have at most ${most} items`,
        field,
      };
    default: {
      // Kubernetes does not treat a number beyond int64 as an integer.
      if (typeof value === 'number' && value >= 2 ** 63) return typeCause(field, Number.NaN, 'integer');
      const bound = issue.inclusive === false ? 'less than' : 'less than or equal to';
      return invalid(field, value, `${field} in body should be ${bound} ${most}`, show);
    }
  }
}

function tooSmall(issue: z.core.$ZodIssueTooSmall, field: string, value: unknown, show: Show): Cause {
  const least = String(issue.minimum);
  switch (issue.origin) {
    case 'string':
      return invalid(field, value, `${field} in body should be at least ${least} chars long`, show);
    case 'array':
    case 'set':
      return invalid(
        field,
        Array.isArray(value) ? value.length : 0,
        `${field} in body should have at least ${least} items`,
        show,
      );
    default: {
      const bound = issue.inclusive === false ? 'greater than' : 'greater than or equal to';
      return invalid(field, value, `${field} in body should be ${bound} ${least}`, show);
    }
  }
}

function badFormat(
  issue: z.core.$ZodIssueInvalidStringFormat,
  field: string,
  value: unknown,
  show: Show,
): Cause {
  const customMessage = issue.message.startsWith('Invalid ') ? undefined : issue.message;
  const detail =
    issue.format === 'regex' && issue.pattern !== undefined
      ? `${field} in body should match '${issue.pattern.replace(/^\/|\/[a-z]*$/g, '')}'`
      : `${field} in body must be of type ${issue.format}`;
  return invalid(field, value, customMessage ?? detail, show);
}

/** Context for the conversion of zod's issues. */
export interface CauseOptions {
  show?: Show;
  /** Returns the schema type at a path: zod reports `number` for an integer field if the value is neither. */
  typeAt?(steps: readonly Step[]): string | undefined;
}

interface IssueLocation {
  root: unknown;
  steps: readonly Step[];
  show: Show;
  typeAt(steps: readonly Step[]): string | undefined;
}

function hasOptions(issue: object): issue is { options: readonly unknown[] } {
  return 'options' in issue && Array.isArray(issue.options);
}

/** Returns the causes of the best matching variant of a union, or a type error with all variants. */
function unionCauses(issue: z.core.$ZodIssueInvalidUnion, location: IssueLocation): Cause[] {
  const field = fieldPath(location.steps);
  const value = valueAt(location.root, location.steps);
  if (hasOptions(issue)) return [notSupported(field, value, issue.options, location.show)];
  const branches = issue.errors as readonly Issue[][];
  const close = branches
    .filter((branch) => branch.every((one) => one.path.length > 0 || one.code !== 'invalid_type'))
    .sort((a, b) => a.length - b.length)[0];
  if (close) return close.flatMap((one) => issueCauses(one, location));
  const expected = branches
    .flat()
    .flatMap((one) => (one.code === 'invalid_type' ? [typeOf(one.expected)] : []));
  return [typeCause(field, value, [...new Set(expected)].join(' or ') || 'another form')];
}

function issueCauses(issue: Issue, outer: IssueLocation): Cause[] {
  const steps = [...outer.steps, ...(issue.path as Step[])];
  const { root, show } = outer;
  const field = fieldPath(steps);
  const value = valueAt(root, steps);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => ({
      reason: 'FieldValueForbidden',
      message: 'Forbidden: unknown field',
      field: fieldPath([...steps, key]),
    }));
  }
  if (value === undefined && issue.code !== 'custom') {
    return [{ reason: 'FieldValueRequired', message: 'Required value', field }];
  }
  switch (issue.code) {
    case 'invalid_type':
      return [typeCause(field, value, outer.typeAt(steps) ?? typeOf(issue.expected))];
    case 'invalid_value':
      return [
        notSupported(field, value, issue.values, show),
        ...(outer.typeAt(steps) === 'string' && typeof value !== 'string'
          ? [typeCause(field, value, 'string')]
          : []),
      ];
    case 'too_big':
      return [tooBig(issue, field, value, show)];
    case 'too_small':
      return [tooSmall(issue, field, value, show)];
    case 'not_multiple_of':
      return [invalid(field, value, `${field} in body should be a multiple of ${issue.divisor}`, show)];
    case 'invalid_format':
      return [badFormat(issue, field, value, show)];
    case 'invalid_union':
      return unionCauses(issue, { ...outer, steps });
    default:
      return [invalid(field, value, issue.message, show)];
  }
}

/** Returns at most 100 causes, followed by one that reports further errors. */
export function bounded(causes: Cause[]): Cause[] {
  if (causes.length <= maxCauses) return causes;
  return [...causes.slice(0, maxCauses), { reason: 'FieldValueInvalid', message: 'further errors omitted' }];
}

/**
 * Converts zod's issues about `root` to the causes of a 422 Status, with the messages and reasons of k8s.io/apimachinery field errors.
 * Formats values with `show`; type errors contain only the type of a value.
 */
export function toCauses(issues: readonly Issue[], root: unknown, options: CauseOptions = {}): Cause[] {
  const { show = shownValue, typeAt = () => undefined } = options;
  // One more than the limit, so that `bounded` reports further errors.
  const shown = issues.slice(0, maxCauses + 1);
  return shown.flatMap((issue) => issueCauses(issue, { root, steps: [], show, typeAt }));
}

/** Length limit of a value in an error message. */
const maxShownLength = 128;

/** Formats a value for an error message: as JSON, truncated, with credentials in URLs redacted. */
export function shownValue(value: unknown): string {
  const text = value === undefined ? 'null' : JSON.stringify(value);
  const masked = text.replace(/(\/\/)[^\s/"@]*@/g, '$1***@');
  return masked.length > maxShownLength ? `${masked.slice(0, maxShownLength)}…` : masked;
}

/** Returns the JSON type of a value; `integer` for whole numbers. */
export function typeName(value: unknown): string {
  if (value === null || value === undefined) return 'null';
  if (Array.isArray(value)) return 'array';
  if (typeof value === 'number') return Number.isInteger(value) ? 'integer' : 'number';
  return typeof value;
}

/** An element of a path: a field, a map key, or a list index. */
export type Step = string | number;

/**
 * Formats a field path like Kubernetes: `spec.artifacts[0].type`. A map key that is not an identifier is in brackets:
 * `metadata.labels[example.com/team]`.
 */
export function fieldPath(steps: readonly Step[]): string {
  let path = '';
  for (const step of steps) {
    if (typeof step === 'number') path += `[${step}]`;
    else if (/^[A-Za-z_$][\w$-]*$/.test(step)) path += path === '' ? step : `.${step}`;
    else path += `[${step.slice(0, 256)}]`;
  }
  return path;
}
