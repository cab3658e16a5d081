import { isRecord, type Json } from '#shared/base/meta';
import type { Parameter } from '../kinds/common.ts';
import type { Schema } from '../schema/schema.ts';
import { fieldOf, leavesOf, parameterName, printed } from './parameters.ts';

/**
 * A parameter of a type named `spec...` pins a field of the artifacts: the worker's job and the template both get the type's value, whatever
 * an Order says. Nothing in an Order can replace the pinned field: another spelling of its key that becomes the same parameter gets the value
 * as well, beside it.
 */

type Fields = Record<string, Json>;

/**
 * Returns the artifact's spec with the type's parameters applied, so that a worker that reads the spec sees what a template sees.
 * `specScanSeverity` sets the field that the schema maps to this name, such as `scan.severity`, else `scanSeverity`, whether the artifact has
 * the field or not.
 */
export function effectiveSpec(
  spec: Readonly<Fields>,
  typeParameters: readonly Parameter[],
  schema: Schema | undefined,
): Fields {
  const pins = typeParameters
    .flatMap(({ name, value }) => {
      const field = fieldOf(name);
      return field === undefined ? [] : [{ name, value, field }];
    })
    // A whole object before its fields.
    .sort((a, b) => a.name.length - b.name.length);
  const result = structuredClone(spec) as Fields;
  for (const { name, value: text, field } of pins) {
    const given = leavesOf(result).filter((leaf) => leaf.name === name);
    const known = schema === undefined ? [] : pathsOf(schema, name);
    const canonical = known.length > 0 ? known.map(({ path }) => path) : [[field]];
    const value = known.length > 0 ? ofType(known[0]?.type, text) : likeGiven(given[0]?.value, text);
    for (const path of [...given.map((leaf) => leaf.path), ...canonical]) setField(result, path, value);
  }
  return result;
}

/** Returns the paths in a schema that become the parameter: a single one in a schema without clashes. */
export function pathsOf(
  schema: Schema,
  wanted: string,
  prefix = 'spec',
  above: readonly string[] = [],
): { path: string[]; type: Schema['type'] }[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, inner]) => {
    const name = parameterName(prefix, key);
    const path = [...above, key];
    if (name === wanted) return [{ path, type: inner.type }];
    return wanted.startsWith(name) ? pathsOf(inner, wanted, name, path) : [];
  });
}

/** Sets a field; replaces whatever is in the way, such as a string where an object has to be. */
function setField(fields: Fields, path: readonly string[], value: Json): void {
  const [key = '', ...rest] = path;
  if (rest.length === 0) {
    define(fields, key, value);
    return;
  }
  const before = Object.hasOwn(fields, key) ? fields[key] : undefined;
  const inner = isRecord(before) ? before : {};
  define(fields, key, inner);
  setField(inner, rest, value);
}

/** Defines the field: an assignment to `__proto__` would set none. */
function define(fields: Fields, key: string, value: Json): void {
  Object.defineProperty(fields, key, { value, enumerable: true, configurable: true, writable: true });
}

function ofType(type: Schema['type'], text: string): Json {
  if (type === undefined || type === 'string') return text;
  const value = parsed(text);
  if (type === 'array') return Array.isArray(value) ? value : text;
  if (type === 'object') return isRecord(value) ? value : text;
  if (type === 'boolean') return typeof value === 'boolean' ? value : text;
  return typeof value === 'number' ? value : text;
}

/** Returns a list, number or boolean if the artifact has one of that type and the text prints it: `1.0` is not the number 1. */
function likeGiven(before: Json | undefined, text: string): Json {
  if (before === undefined || before === null || typeof before === 'string') return text;
  const value = parsed(text);
  if (Array.isArray(before)) return Array.isArray(value) ? value : text;
  return typeof value === typeof before && !isRecord(value) && printed(value) === text ? value : text;
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}
