import { isRecord } from '#shared/base/meta';
import { type FieldSet, noFields } from './field-set.ts';
import { canonicalElement } from './path-element.ts';

/**
 * Parses FieldsV1 from a client like fieldpath.Set.FromJSON: normalizes path elements and ignores unknown kinds of elements. Throws
 * SyntaxError for an invalid set.
 */
export function readFieldsV1(value: unknown): FieldSet {
  if (value === undefined || value === null) return noFields;
  if (!isRecord(value)) throw new SyntaxError('fieldsV1 must be an object');
  return readChildren(value);
}

function readChildren(value: Record<string, unknown>): { [element: string]: FieldSet } {
  const children: { [element: string]: FieldSet } = {};
  for (const [text, content] of Object.entries(value)) {
    if (text === '.') continue;
    const element = canonicalElement(text);
    if (element === undefined) continue;
    if (!isRecord(content)) throw new SyntaxError(`fieldsV1 must hold objects below ${text.slice(0, 100)}`);
    const below = readChildren(content);
    const member = Object.hasOwn(content, '.') && Object.keys(below).length > 0;
    children[element] = member ? { '.': noFields, ...below } : below;
  }
  return children;
}
