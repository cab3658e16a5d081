import { badRequest } from '../errors/request-errors.ts';
import type { KindDefinition, KubeObject } from '../kinds/definition.ts';
import { parseLabelSelector } from './label-selector.ts';

export { parseLabelSelector } from './label-selector.ts';

/** The labels and selectable fields of an object. */
export interface Selectable {
  labels: Readonly<Record<string, string>>;
  fields: Readonly<Record<string, string>>;
}

export function selectableOf(definition: KindDefinition, object: KubeObject): Selectable {
  const { name, namespace = '', labels = {} } = object.metadata;
  const fields: Record<string, string> = { 'metadata.name': name, 'metadata.namespace': namespace };
  for (const [field, read] of Object.entries(definition.selectableFields ?? {})) fields[field] = read(object);
  return { labels, fields };
}

/** The selectors of a list, watch or deletecollection. */
export interface Selection {
  /** True without selectors: objects need not be parsed. */
  everything: boolean;
  matches(subject: Selectable): boolean;
  /** The only name or namespace that can match, where the field selector requires one. */
  name?: string;
  namespace?: string;
}

/** Splits at commas outside parentheses. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at <= text.length; at++) {
    const letter = text[at];
    if (letter === '(') depth++;
    else if (letter === ')') depth--;
    else if (letter === undefined || (letter === ',' && depth === 0)) {
      terms.push(text.slice(from, at).trim());
      from = at + 1;
    }
  }
  return terms.length === 1 && terms[0] === '' ? [] : terms;
}

interface FieldTerm {
  field: string;
  value: string;
  negated: boolean;
}

/** Parses `metadata.name=x,status.phase!=y`; BadRequest for a field that is not selectable. */
export function parseFieldSelector(definition: KindDefinition, text: string): FieldTerm[] {
  return splitTerms(text).map((term) => {
    const found = /^([^=!]+?)(==|=|!=)(.*)$/.exec(term);
    if (!found) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    const field = (found[1] ?? '').trim();
    if (!isSelectable(definition, field)) throw badRequest(`field label not supported: ${field}`);
    const value = found[3] ?? '';
    if (/(?<!\\)(?:\\\\)*=/.test(value))
      throw badRequest('invalid field selector: unescaped character in value: 61');
    return { field, value: value.replace(/\\([\\,=])/g, '$1'), negated: found[2] === '!=' };
  });
}

function isSelectable(definition: KindDefinition, field: string): boolean {
  if (field === 'metadata.name') return true;
  if (field === 'metadata.namespace') return definition.scope === 'Namespaced';
  return Object.hasOwn(definition.selectableFields ?? {}, field);
}

/** Parses both selectors of a request. */
export function selection(definition: KindDefinition, labelText: string, fieldText: string): Selection {
  const holds = parseLabelSelector(labelText);
  const fields = parseFieldSelector(definition, fieldText);
  const exact = (field: string) => fields.find((term) => term.field === field && !term.negated)?.value;
  const name = exact('metadata.name');
  const namespace = exact('metadata.namespace');
  return {
    everything: labelText.trim() === '' && fields.length === 0,
    matches: (subject) =>
      holds(subject.labels) &&
      fields.every((term) => (subject.fields[term.field] === term.value) !== term.negated),
    ...(name !== undefined && { name }),
    ...(namespace !== undefined && { namespace }),
  };
}
