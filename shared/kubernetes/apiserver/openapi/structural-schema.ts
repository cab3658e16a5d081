import { isRecord } from '#shared/base/meta';
import { mergeIntersection, mergeUnion } from './merge-schemas.ts';
import { freeForm, type Schema } from './schema.ts';

/** Keywords with the same meaning in JSON Schema and structural schemas. */
const sharedKeywords = [
  'type',
  'format',
  'title',
  'description',
  'required',
  'enum',
  'default',
  'nullable',
  'minimum',
  'maximum',
  'exclusiveMinimum',
  'exclusiveMaximum',
  'multipleOf',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'uniqueItems',
  'minProperties',
  'maxProperties',
  'pattern',
];

/** Longer patterns are omitted from documents, but still validated. */
const maxPatternLength = 200;

interface Walk {
  root: Record<string, unknown>;
  /** References on the current path. A recursive reference becomes free-form. */
  following: ReadonlySet<string>;
}

function resolve(root: Record<string, unknown>, reference: string): unknown {
  let node: unknown = root;
  for (const part of reference.replace(/^#\/?/, '').split('/')) {
    if (part === '') continue;
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~');
    node = isRecord(node) ? node[name] : undefined;
  }
  return node;
}

/** Replaces the bounds of safe integers or int32, which zod adds to every integer, by a format. */
function integer(schema: Schema): Schema {
  const { minimum, maximum, ...rest } = schema;
  const int32 = minimum === -(2 ** 31) && maximum === 2 ** 31 - 1;
  const result: Schema = { ...rest, format: int32 ? 'int32' : (rest.format ?? 'int64') };
  if (minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER && !int32) result.minimum = minimum;
  if (maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER && !int32) result.maximum = maximum;
  return result;
}

/** Omits patterns that a format implies, such as zod's very long patterns for dates. */
function text(schema: Schema): Schema {
  const { pattern, ...rest } = schema;
  if (rest.format === 'base64') rest.format = 'byte';
  return pattern === undefined || rest.format !== undefined || pattern.length > maxPatternLength
    ? rest
    : { ...rest, pattern };
}

function keywords(node: Record<string, unknown>): Schema {
  const entries = Object.entries(node).filter(
    ([name]) => sharedKeywords.includes(name) || name.startsWith('x-'),
  );
  return Object.fromEntries(entries) as Schema;
}

function objectParts(node: Record<string, unknown>, schema: Schema, walk: Walk): Schema {
  const properties = isRecord(node.properties) ? Object.entries(node.properties) : [];
  const additional = node.additionalProperties;
  const { required, ...result } = schema;
  if (properties.length > 0) {
    result.properties = Object.fromEntries(properties.map(([name, field]) => [name, convert(field, walk)]));
    if (required && required.length > 0) result.required = required;
  }
  if (additional === true || isRecord(additional)) {
    const values = convert(additional, walk);
    if (properties.length > 0 || values.type === undefined)
      result['x-kubernetes-preserve-unknown-fields'] = true;
    else result.additionalProperties = values;
  }
  return result;
}

function variants(value: unknown, walk: Walk): Schema[] | undefined {
  return Array.isArray(value) ? value.map((variant: unknown) => convert(variant, walk)) : undefined;
}

function combined(node: Record<string, unknown>, walk: Walk): Schema | undefined {
  if (typeof node.$ref === 'string') {
    if (walk.following.has(node.$ref)) return freeForm();
    const following = new Set(walk.following).add(node.$ref);
    return convert(resolve(walk.root, node.$ref), { ...walk, following });
  }
  const union = variants(node.anyOf ?? node.oneOf, walk);
  if (union) return mergeUnion(union);
  const all = variants(node.allOf, walk);
  return all && mergeIntersection(all);
}

function convert(node: unknown, walk: Walk): Schema {
  if (!isRecord(node)) return freeForm();
  const own = keywords(node);
  const base = combined(node, walk);
  if (base) return { ...base, ...own };
  switch (own.type) {
    case 'object':
      return objectParts(node, own, walk);
    case 'array':
      return { ...own, items: convert(node.items, walk) };
    case 'integer':
      return integer(own);
    case 'string':
      return text(own);
    case undefined:
      return { ...own, ...freeForm() };
    default:
      return own;
  }
}

/**
 * Converts zod's JSON Schema (target openapi-3.0) to a structural schema: inlines references, merges unions, and marks unknown values and
 * loose objects with x-kubernetes-preserve-unknown-fields.
 */
export function toStructural(document: Record<string, unknown>): Schema {
  return convert(document, { root: document, following: new Set() });
}
