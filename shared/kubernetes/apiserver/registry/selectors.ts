import { badRequest } from '../errors/api-errors.ts';
import type { KindDefinition, KubeObject } from '../kinds/definition.ts';
import { mostTerms, parseLabelSelector } from './label-selector.ts';

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
  /** Words by one of which every object that can match is found, where the label selector requires values of an indexed label. */
  words?: readonly string[];
}

/** Splits at commas that no backslash precedes. Empty terms say nothing. */
function splitTerms(text: string): string[] {
  const terms: string[] = [];
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === ',') {
      terms.push(text.slice(from, at));
      from = at + 1;
    }
  }
  return [...terms, text.slice(from)].filter((term) => term !== '');
}

interface FieldTerm {
  field: string;
  value: string;
  negated: boolean;
}

/** Parses `metadata.name=x,status.phase!=y` by the rules of k8s.io/apimachinery, fields; BadRequest for a field that is not selectable. */
function parseFieldSelector(definition: KindDefinition, text: string): FieldTerm[] {
  const terms = splitTerms(text);
  if (terms.length > mostTerms) throw badRequest(`the field selector has more than ${mostTerms} terms`);
  return terms.map((term) => {
    const found = /^([^=!]*(?:!(?!=)[^=!]*)*)(==|=|!=)/.exec(term);
    if (!found) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    const [operator = '', field = '', sign = ''] = found;
    const value = unescaped(term.slice(operator.length));
    if (!isSelectable(definition, field)) throw badRequest(`field label not supported: ${field}`);
    return { field, value, negated: sign === '!=' };
  });
}

/** A backslash stands before itself, a comma or an equals sign, which must not stand alone, and before nothing else. */
function unescaped(value: string): string {
  return value.replace(/\\(.?)|[,=]/gsu, (found, letter?: string) => {
    if (letter === undefined)
      throw badRequest(`invalid field selector: unescaped character in value: ${found.codePointAt(0)}`);
    if (!['\\', ',', '='].includes(letter))
      throw badRequest(`invalid field selector: invalid escape sequence: ${found}`);
    return letter;
  });
}

function isSelectable(definition: KindDefinition, field: string): boolean {
  if (field === 'metadata.name') return true;
  if (field === 'metadata.namespace') return definition.scope === 'Namespaced';
  return Object.hasOwn(definition.selectableFields ?? {}, field);
}

/** Parses both selectors of a request. */
export function selection(definition: KindDefinition, labelText: string, fieldText: string): Selection {
  const { holds, required } = parseLabelSelector(labelText);
  const indexed = definition.indexedLabels?.find((label) => required.has(label));
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
    ...(indexed !== undefined && {
      words: (required.get(indexed) ?? []).map((value) => wordOf(indexed, value)),
    }),
  };
}

/** The word that objects with this value of an indexed label are found by. */
export function wordOf(label: string, value = ''): string {
  return `${label}=${value}`;
}
