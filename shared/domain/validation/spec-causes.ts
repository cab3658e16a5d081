import type { Cause } from '#shared/base/errors';
import { isRecord, type Json } from '#shared/base/meta';
import type { Parameter } from '../kinds/common.ts';
import { type Clash, clashAmong, clashOf, clashText, fieldOf, parameterName } from '../plan/parameters.ts';
import type { Schema } from '../schema/schema.ts';
import { invalid, quoted } from '../values/causes.ts';
import { deepestNesting, mostSchemaNodes } from '../values/limits.ts';

/** Fields of artifacts that become one parameter: a template would see one value, and the worker the other. */

/** Clashes in an artifact's spec as a user writes it; `schema` is that of its type. */
export function specCauses(field: string, spec: Record<string, Json>, schema: Schema | undefined): Cause[] {
  return causesOf(field, clashOf(spec, schema));
}

/** Clashes in the schema of a type, which may not have been validated yet. */
export function schemaClashCauses(field: string, schema: unknown): Cause[] {
  const leaves: { name: string; path: string[] }[] = [];
  let nodes = 0;
  const visit = (prefix: string, above: string[], node: unknown): void => {
    nodes += 1;
    if (
      !isRecord(node) ||
      !isRecord(node.properties) ||
      nodes > mostSchemaNodes ||
      above.length > deepestNesting
    )
      return;
    for (const [key, inner] of Object.entries(node.properties)) {
      const [name, path] = [parameterName(prefix, key), [...above, key]];
      if (isRecord(inner) && isRecord(inner.properties)) visit(name, path, inner);
      else leaves.push({ name, path });
    }
  };
  visit('spec', [], schema);
  return causesOf(field, clashAmong(leaves), 'artifacts[].spec');
}

/** Clashes of two parameters of a type that set one field, such as `specImage` and `specimage`. */
export function pinCauses(field: string, parameters: readonly Parameter[]): Cause[] {
  const seen = new Map<string, string>();
  return parameters.flatMap(({ name }, index) => {
    const pinned = fieldOf(name);
    const first = pinned === undefined ? undefined : seen.get(pinned);
    if (pinned !== undefined) seen.set(pinned, first ?? name);
    if (first === undefined || first === name) return [];
    const message = `Invalid value: ${quoted(name)} sets the same field of artifacts as ${quoted(first)}: remove one of them`;
    return [invalid(`${field}[${index}].name`, message)];
  });
}

/** `at`: the parent of the paths, if that is not the field itself. */
function causesOf(field: string, clash: Clash | undefined, at = field): Cause[] {
  return clash === undefined ? [] : [invalid(field, `Invalid value: ${clashText(at, clash)}`)];
}
