import { ArcError } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';

/**
 * Schemas for programs that start for one small task: zod, even its small edition, would be a third of what the worker
 * loads. A shape checks a value and returns it typed, without unknown fields. `path` is for messages, and empty at the top.
 * Throws Invalid, which names the field and never quotes the value: it may be a credential.
 */
export type Shape<T> = (value: unknown, path: string) => T;
export type TypeOf<S> = S extends Shape<infer T> ? T : never;

type Fields = Record<string, Shape<unknown>>;
type ObjectOf<Required extends Fields, Optional extends Fields> = {
  [Name in keyof Required]: TypeOf<Required[Name]>;
} & { [Name in keyof Optional]?: TypeOf<Optional[Name]> };

function wrong(path: string, expected: string): ArcError {
  return new ArcError('Invalid', `${path} must be ${expected}`);
}

export const text: Shape<string> = (value, path) => {
  if (typeof value === 'string') return value;
  throw wrong(path, 'a string');
};

export const filledText: Shape<string> = (value, path) => {
  if (typeof value === 'string' && value !== '') return value;
  throw wrong(path, 'a string that is not empty');
};

export const flag: Shape<boolean> = (value, path) => {
  if (typeof value === 'boolean') return value;
  throw wrong(path, 'true or false');
};

/** An object with any fields. */
export const record: Shape<Record<string, unknown>> = (value, path) => {
  if (isRecord(value)) return value;
  throw wrong(path, 'an object');
};

export function list<T>(shape: Shape<T>): Shape<T[]> {
  return (value, path) => {
    if (!Array.isArray(value)) throw wrong(path, 'a list');
    return value.map((item, index) => shape(item, `${path}[${index}]`));
  };
}

/** An object with the fields `required`, and the present fields of `optional`. */
export function object<Required extends Fields, Optional extends Fields = Record<never, never>>(
  required: Required,
  optional?: Optional,
): Shape<ObjectOf<Required, Optional>> {
  return (value, path) => {
    const given = record(value, path);
    const found: Record<string, unknown> = {};
    const at = (name: string) => (path === '' ? name : `${path}.${name}`);
    for (const [name, shape] of Object.entries(required)) found[name] = shape(given[name], at(name));
    for (const [name, shape] of Object.entries(optional ?? {}))
      if (given[name] !== undefined) found[name] = shape(given[name], at(name));
    // Every field was checked by the shape of its name.
    return found as ObjectOf<Required, Optional>;
  };
}

/** An object with at least one of the fields, and no others: a misspelt name is refused instead of ignored. */
export function someOf<Known extends Fields>(known: Known): Shape<ObjectOf<Record<never, never>, Known>> {
  const shape = object({}, known);
  const names = Object.keys(known).join(', ');
  return (value, path) => {
    const given = Object.keys(record(value, path));
    const unknown = given.find((name) => !Object.hasOwn(known, name));
    if (unknown !== undefined)
      throw new ArcError('Invalid', `${path}.${unknown.slice(0, 100)} is not known: use ${names}`);
    if (given.length === 0) throw wrong(path, `an object with at least one of ${names}`);
    return shape(value, path);
  };
}

/** The first of `shapes` whose field the object has; `otherwise` if it has none. */
export function byField<Named extends Fields, Otherwise>(
  shapes: Named,
  otherwise: Shape<Otherwise>,
): Shape<TypeOf<Named[keyof Named]> | Otherwise> {
  return (value, path) => {
    const given = record(value, path);
    const [, shape] = Object.entries(shapes).find(([name]) => given[name] !== undefined) ?? [];
    return shape === undefined ? otherwise(value, path) : (shape(value, path) as TypeOf<Named[keyof Named]>);
  };
}
