import type { Cause } from '#shared/base/errors';
import { canonicalJson, isRecord } from '#shared/base/meta';
import { quoted } from '../values/causes.ts';
import { deepestNesting } from '../values/limits.ts';
import { fieldSchema, isOpen, type Schema } from './schema.ts';

/** True if `text` contains a match of `pattern`, in linear time. Throws for an invalid pattern. */
export type PatternMatcher = (pattern: string, text: string) => boolean;

/** Problems reported per value. */
const mostCauses = 10;

/**
 * Returns the mismatches between a value and its schema, each with its path below `field`. Without `matches`, patterns are not checked. The
 * schema must have passed `schemaCauses`.
 */
export function valueCauses(
  field: string,
  schema: Schema,
  value: unknown,
  matches?: PatternMatcher,
): Cause[] {
  const causes: Cause[] = [];
  walk({ field, schema, value, depth: 0 }, matches, causes);
  return causes.slice(0, mostCauses);
}

interface Place {
  field: string;
  schema: Schema;
  value: unknown;
  depth: number;
}

function walk(place: Place, matches: PatternMatcher | undefined, causes: Cause[]): void {
  const { field, schema, value, depth } = place;
  if (causes.length >= mostCauses || depth > deepestNesting) return;
  if (value === null && schema.nullable === true) return;
  const type = typeOf(value);
  if (
    schema.type !== undefined &&
    !(type === schema.type || (schema.type === 'number' && type === 'integer'))
  ) {
    const message = `Invalid value: "${type}": must be of type ${schema.type}`;
    causes.push({ reason: 'FieldValueTypeInvalid', field, message });
    return;
  }
  if (schema.enum && !schema.enum.some((one) => canonicalJson(one) === canonicalJson(value))) {
    const listed = schema.enum.map((one) => JSON.stringify(one)).join(', ');
    causes.push({
      reason: 'FieldValueNotSupported',
      field,
      message: `Unsupported value: ${shown(value)}: supported values: ${listed}`,
    });
    return;
  }
  if (typeof value === 'string') causes.push(...textCauses(field, schema, value, matches));
  else if (typeof value === 'number') causes.push(...numberCauses(field, schema, value));
  else if (Array.isArray(value)) listCauses(place, value, matches, causes);
  else if (isRecord(value)) objectCauses(place, value, matches, causes);
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return Number.isInteger(value) ? 'integer' : typeof value;
}

function shown(value: unknown): string {
  return typeof value === 'string' ? quoted(value) : quoted(JSON.stringify(value) ?? '').slice(1, -1);
}

function invalid(field: string, value: unknown, detail: string): Cause {
  return { reason: 'FieldValueInvalid', field, message: `Invalid value: ${shown(value)}: ${detail}` };
}

function textCauses(
  field: string,
  schema: Schema,
  value: string,
  matches: PatternMatcher | undefined,
): Cause[] {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern } = schema;
  const length = [...value].length;
  if (length < minLength) return [invalid(field, value, `must have at least ${minLength} characters`)];
  if (length > maxLength) return [invalid(field, value, `must have at most ${maxLength} characters`)];
  if (pattern === undefined || matches === undefined || matches(pattern, value)) return [];
  return [invalid(field, value, `must match ${pattern}`)];
}

function numberCauses(field: string, schema: Schema, value: number): Cause[] {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (minimum !== undefined && (exclusiveMinimum ? value <= minimum : value < minimum))
    return [invalid(field, value, `must be ${exclusiveMinimum ? 'more than' : 'at least'} ${minimum}`)];
  if (maximum !== undefined && (exclusiveMaximum ? value >= maximum : value > maximum))
    return [invalid(field, value, `must be ${exclusiveMaximum ? 'less than' : 'at most'} ${maximum}`)];
  if (multipleOf === undefined || Number.isInteger(value / multipleOf)) return [];
  return [invalid(field, value, `must be a multiple of ${multipleOf}`)];
}

function listCauses(
  { field, schema, depth }: Place,
  value: readonly unknown[],
  matches: PatternMatcher | undefined,
  causes: Cause[],
): void {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY, uniqueItems, items } = schema;
  if (value.length < minItems)
    causes.push(invalid(field, value.length, `must have at least ${minItems} items`));
  if (value.length > maxItems)
    causes.push(invalid(field, value.length, `must have at most ${maxItems} items`));
  if (uniqueItems && new Set(value.map((one) => canonicalJson(one))).size < value.length)
    causes.push({ reason: 'FieldValueDuplicate', field, message: 'Duplicate value: items must differ' });
  if (!items) return;
  for (const [index, item] of value.entries())
    walk({ field: `${field}[${index}]`, schema: items, value: item, depth: depth + 1 }, matches, causes);
}

function objectCauses(
  { field, schema, depth }: Place,
  value: Record<string, unknown>,
  matches: PatternMatcher | undefined,
  causes: Cause[],
): void {
  const { required = [], minProperties = 0, maxProperties = Number.POSITIVE_INFINITY } = schema;
  const names = Object.keys(value);
  if (names.length < minProperties)
    causes.push(invalid(field, names.length, `must have at least ${minProperties} fields`));
  if (names.length > maxProperties)
    causes.push(invalid(field, names.length, `must have at most ${maxProperties} fields`));
  for (const name of required)
    if (!Object.hasOwn(value, name))
      causes.push({
        reason: 'FieldValueRequired',
        field: `${field}.${name}`,
        message: `Required value${fieldsOf(schema)}`,
      });
  for (const name of names) {
    const inner = fieldSchema(schema, name);
    const at = `${field}.${name}`;
    if (inner) walk({ field: at, schema: inner, value: value[name], depth: depth + 1 }, matches, causes);
    else
      causes.push({
        reason: 'FieldValueForbidden',
        field: at,
        message: `Forbidden: unknown field${fieldsOf(schema)}`,
      });
  }
}

/** Lists the known fields: no command explains the spec of an artifact, so the message does. */
function fieldsOf(schema: Schema): string {
  const names = Object.keys(schema.properties ?? {});
  if (names.length === 0 || isOpen(schema)) return '';
  const named = names.slice(0, 20).map((name) => {
    const type = schema.properties?.[name]?.type ?? 'any';
    return `${name} (${type}${schema.required?.includes(name) ? ', required' : ''})`;
  });
  return `: there are ${named.join(', ')}`;
}
