import type { Cause } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import { invalid, required } from '../values/causes.ts';
import { deepestNesting, longestPattern, mostSchemaNodes } from '../values/limits.ts';
import type { Schema } from './schema.ts';
import { type PatternMatcher, valueCauses } from './value-causes.ts';

type Check = (value: unknown) => boolean;
const isCount: Check = (value) => Number.isInteger(value) && Number(value) >= 0;
const isNumber: Check = (value) => typeof value === 'number' && Number.isFinite(value);
const isBoolean: Check = (value) => typeof value === 'boolean';
const isText: Check = (value) => typeof value === 'string';
const isAny: Check = () => true;
const types = ['object', 'array', 'string', 'integer', 'number', 'boolean'];

/** Every keyword with the check of its value. Other keywords would be ignored, so they are refused. */
const keywords: Record<keyof Schema | 'description' | 'title' | 'example' | 'format', Check> = {
  type: (value) => types.includes(String(value)),
  properties: isRecord,
  required: (value) => Array.isArray(value) && value.every(isText),
  additionalProperties: (value) => isBoolean(value) || isRecord(value),
  items: isRecord,
  enum: (value) => Array.isArray(value) && value.length > 0,
  nullable: isBoolean,
  default: isAny,
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isBoolean,
  exclusiveMaximum: isBoolean,
  multipleOf: (value) => isNumber(value) && Number(value) > 0,
  minLength: isCount,
  maxLength: isCount,
  pattern: isText,
  minItems: isCount,
  maxItems: isCount,
  uniqueItems: isBoolean,
  minProperties: isCount,
  maxProperties: isCount,
  'x-kubernetes-preserve-unknown-fields': isBoolean,
  description: isText,
  title: isText,
  example: isAny,
  format: isText,
};

/**
 * Returns what is wrong with the schema of a type: unknown keywords or wrong values, a part without a type, an invalid pattern, a default that
 * does not fit. `matches` compiles patterns, and throws for invalid ones.
 */
export function schemaCauses(field: string, schema: unknown, matches: PatternMatcher): Cause[] {
  if (schema === undefined) return [];
  const causes = new SchemaCheck(matches).causes(field, schema, 0);
  const isObject = isRecord(schema) && schema.type === 'object';
  return isObject || causes.length > 0
    ? causes
    : [invalid(`${field}.type`, 'Invalid value: must be "object": a spec is one')];
}

class SchemaCheck {
  readonly #matches: PatternMatcher;
  #nodes = 0;

  constructor(matches: PatternMatcher) {
    this.#matches = matches;
  }

  causes(field: string, schema: unknown, depth: number): Cause[] {
    this.#nodes += 1;
    if (!isRecord(schema)) return [invalid(field, 'Invalid value: must be a schema, an object')];
    if (depth > deepestNesting)
      return [invalid(field, `Invalid value: nested more than ${deepestNesting} levels deep`)];
    if (this.#nodes > mostSchemaNodes + 1) return [];
    if (this.#nodes > mostSchemaNodes)
      return [invalid(field, `Invalid value: more than ${mostSchemaNodes} parts`)];
    const own = this.#own(field, schema);
    return own.length > 0 ? own : [...this.#inner(field, schema, depth), ...this.#fits(field, schema)];
  }

  #own(field: string, schema: Record<string, unknown>): Cause[] {
    const wrong = Object.entries(schema).flatMap(([name, value]) => {
      const check = Object.hasOwn(keywords, name) ? keywords[name as keyof typeof keywords] : undefined;
      if (check === undefined)
        return [
          invalid(`${field}.${name}`, 'Invalid value: not a keyword that ARC knows; it would have no effect'),
        ];
      return check(value) ? [] : [invalid(`${field}.${name}`, 'Invalid value: not a value of this keyword')];
    });
    const open = schema['x-kubernetes-preserve-unknown-fields'] === true;
    const untyped =
      schema.type === undefined && !open ? [required(`${field}.type`, `one of ${types.join(', ')}`)] : [];
    return [...wrong, ...untyped, ...this.#pattern(`${field}.pattern`, schema.pattern)];
  }

  #pattern(field: string, pattern: unknown): Cause[] {
    if (typeof pattern !== 'string') return [];
    if (pattern.length > longestPattern)
      return [invalid(field, `Invalid value: must have at most ${longestPattern} characters`)];
    try {
      this.#matches(pattern, '');
      return [];
    } catch {
      return [invalid(field, 'Invalid value: not a regular expression in the syntax of RE2')];
    }
  }

  #inner(field: string, schema: Schema, depth: number): Cause[] {
    const { properties = {}, additionalProperties, items } = schema;
    return [
      ...Object.entries(properties).flatMap(([name, one]) =>
        this.causes(`${field}.properties[${name}]`, one, depth + 1),
      ),
      ...(isRecord(additionalProperties)
        ? this.causes(`${field}.additionalProperties`, additionalProperties, depth + 1)
        : []),
      ...(items === undefined ? [] : this.causes(`${field}.items`, items, depth + 1)),
    ];
  }

  #fits(field: string, schema: Schema): Cause[] {
    if (schema.default === undefined) return [];
    const { default: _, ...rest } = schema;
    const [problem] = valueCauses(`${field}.default`, rest, schema.default, this.#matches);
    return problem ? [problem] : [];
  }
}
