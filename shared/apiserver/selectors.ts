import type { KindDefinition, KubeObject } from './definition.ts';
import { badRequest } from './status.ts';

type Labels = Readonly<Record<string, string>>;

/** What a list, watch or deletecollection is narrowed to. */
export interface Selection {
  /** True when nothing is narrowed: then objects need not be parsed. */
  everything: boolean;
  matches(object: KubeObject): boolean;
  /** False when the stored bytes (JSON as `encodeObject` writes it) show without a parse that the object does not match. */
  mayMatch(stored: Uint8Array): boolean;
  /** The one name or namespace that can match, where the field selector says so. */
  name?: string;
  namespace?: string;
}

/** One term of a selector; all must hold. `text`: what stands in the JSON of every object that the term holds for. */
interface Term {
  holds: (labels: Labels) => boolean;
  text?: string;
}

const setTerm = /^([^\s=!,()]+)\s+(in|notin)\s*\(([^()]*)\)$/;
const equalTerm = /^([^\s=!,()]+)\s*(==|=|!=)\s*([^\s=!,()]*)$/;
const existsTerm = /^(!?)\s*([^\s=!,()]+)$/;
const labelKey = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const labelValue = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

/** Parses `a=b,c!=d,e in (f,g),!h`; rejects with BadRequest. Rules of labels.Parse (k8s.io/apimachinery). */
export function parseLabelSelector(text: string): { holds: (labels: Labels) => boolean; texts: string[] } {
  const terms = splitTerms(text).map((term) => parseTerm(term, text));
  return {
    holds: (labels) => terms.every((term) => term.holds(labels)),
    texts: terms.flatMap((term) => (term.text === undefined ? [] : [term.text])),
  };
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

function parseTerm(term: string, whole: string): Term {
  const set = setTerm.exec(term);
  if (set) {
    const values = new Set((set[3] ?? '').split(',').map((value) => value.trim()));
    return membership(checkedKey(set[1], whole), values, set[2] === 'notin', whole);
  }
  const equal = equalTerm.exec(term);
  if (equal) {
    const key = checkedKey(equal[1], whole);
    const value = equal[3] ?? '';
    const term = membership(key, new Set([value]), equal[2] === '!=', whole);
    return equal[2] === '!=' ? term : { ...term, text: member(key, value) };
  }
  const exists = existsTerm.exec(term);
  if (!exists) throw badRequest(`unable to parse requirement: found '${term}' in selector '${whole}'`);
  const key = checkedKey(exists[2], whole);
  if (exists[1] === '!') return { holds: (labels) => !Object.hasOwn(labels, key) };
  return { holds: (labels) => Object.hasOwn(labels, key), text: `${JSON.stringify(key)}:` };
}

/** A member of an object as JSON.stringify writes it. */
function member(key: string, value: string): string {
  return `${JSON.stringify(key)}:${JSON.stringify(value)}`;
}

/** `!=` and `notin` hold for objects without the label too. */
function membership(key: string, values: ReadonlySet<string>, negated: boolean, whole: string): Term {
  for (const value of values) {
    if (!labelValue.test(value))
      throw badRequest(`unable to parse requirement: invalid label value '${value}' in selector '${whole}'`);
  }
  return {
    holds: (labels) => {
      const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
      return (value !== undefined && values.has(value)) !== negated;
    },
  };
}

function checkedKey(key: string | undefined, whole: string): string {
  if (key && labelKey.test(key)) return key;
  throw badRequest(`unable to parse requirement: invalid label key '${key}' in selector '${whole}'`);
}

interface FieldTerm {
  field: string;
  value: string;
  negated: boolean;
}

/** Parses `metadata.name=x,status.phase!=y`; a field the kind cannot select by is a BadRequest. */
export function parseFieldSelector(definition: KindDefinition, text: string): FieldTerm[] {
  return splitTerms(text).map((term) => {
    const found = /^([^=!]+?)(==|=|!=)(.*)$/.exec(term);
    if (!found) throw badRequest(`invalid field selector: '${text}'; can't understand '${term}'`);
    const field = (found[1] ?? '').trim();
    if (!readerOf(definition, field)) throw badRequest(`field label not supported: ${field}`);
    return { field, value: (found[3] ?? '').replace(/\\([\\,=])/g, '$1'), negated: found[2] === '!=' };
  });
}

function readerOf(definition: KindDefinition, field: string): ((object: KubeObject) => string) | undefined {
  if (field === 'metadata.name') return (object) => object.metadata.name;
  if (field === 'metadata.namespace') return (object) => object.metadata.namespace ?? '';
  const own = definition.selectableFields;
  return own && Object.hasOwn(own, field) ? own[field] : undefined;
}

/** Both selectors of a request, with what they say about names made explicit. */
export function selection(definition: KindDefinition, labelText: string, fieldText: string): Selection {
  const labels = parseLabelSelector(labelText);
  const fields = parseFieldSelector(definition, fieldText);
  const exact = (field: string) => fields.find((term) => term.field === field && !term.negated)?.value;
  const name = exact('metadata.name');
  const namespace = exact('metadata.namespace');
  const texts = [...labels.texts];
  if (name !== undefined) texts.push(member('name', name));
  if (namespace) texts.push(member('namespace', namespace));
  const needles = texts.map((text) => Buffer.from(text));
  return {
    everything: labelText.trim() === '' && fields.length === 0,
    matches: (object) =>
      labels.holds(object.metadata.labels ?? {}) &&
      fields.every((term) => (readerOf(definition, term.field)?.(object) === term.value) !== term.negated),
    mayMatch: (stored) => {
      const bytes = Buffer.from(stored.buffer, stored.byteOffset, stored.byteLength);
      return needles.every((needle) => bytes.includes(needle));
    },
    ...(name !== undefined && { name }),
    ...(namespace !== undefined && { namespace }),
  };
}
