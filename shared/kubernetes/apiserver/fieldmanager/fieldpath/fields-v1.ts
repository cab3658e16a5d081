import { isRecord } from '#shared/base/meta';
import { type FieldSet, noFields } from './field-set.ts';
import { canonicalElement } from './path-element.ts';

/**
 * Reads FieldsV1 that a client has sent: steps in canonical form, steps of unknown kinds left out, as
 * fieldpath.Set.FromJSON does. Throws SyntaxError for what is no set.
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
