import { isRecord, type Json } from '#shared/base/meta';
import type { Parameter } from '../kinds/common.ts';
import type { Schema } from '../schema/schema.ts';
import { fieldOf, leavesOf, parameterName, printed } from './parameters.ts';

/**
 * A parameter of a type named `spec...` pins a field of the artifacts: whatever an Order says, the worker's job has the type's value there, as
 * the template has it. Nothing that an Order writes can take the place of that field: another spelling of its key that becomes the same
 * parameter gets the value too, and stands beside it.
 */

type Fields = Record<string, Json>;

/**
 * The artifact's spec with the type's parameters applied. The field of `specScanSeverity` is the one to which the schema gives this name, such
 * as `scan.severity`, else `scanSeverity`; it is set whether the artifact has it or not. So a worker that reads the spec sees what a
 * template sees.
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
    // A whole object before a field of it.
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

/** Where a schema has the field that becomes a parameter: once, in a schema without clashes. */
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

/** Sets a field; what stands in the way of it, such as a text where an object has to be, gives way. */
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

/** An assignment to `__proto__` would set no field. */
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

/** A list, a number or a boolean where the artifact has one and the text says the same as one: `1.0` is not the number 1. */
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
