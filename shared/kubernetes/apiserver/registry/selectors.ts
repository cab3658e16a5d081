import { badRequest } from '../errors/api-errors.ts';
import type { KindDefinition, KubeObject } from '../kinds/definition.ts';
import { labelValueFaults, qualifiedFaults } from '../validation/name-rules.ts';

/** The labels and selectable fields of an object, against which selectors match. */
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

/** The parsed selectors of a list, watch or deletecollection. */
export interface Selection {
  /** True without selectors, so that objects need not be parsed. */
  everything: boolean;
  matches(subject: Selectable): boolean;
  /** The name and namespace that the field selector requires, if any. */
  name?: string;
  namespace?: string;
  /** Values to look up in the label index: every matching object has one of them. Undefined: the index cannot be used. */
  indexValues?: readonly string[];
}

/** Splits at unescaped commas. Drops empty terms. */
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

/** Parses `metadata.name=x,status.phase!=y` like k8s.io/apimachinery, fields. Throws BadRequest for fields that are not selectable. */
function parseFieldSelector(definition: KindDefinition, text: string): FieldTerm[] {
  const terms = splitTerms(text);
  if (terms.length > maxTerms) throw badRequest(`the field selector has more than ${maxTerms} terms`);
  return terms.map((term) => {
    const found = /^([^=!]*(?:!(?!=)[^=!]*)*)(==|=|!=)/.exec(term);
    if (!found) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    const [operator = '', field = '', sign = ''] = found;
    const value = unescaped(term.slice(operator.length));
    if (!isSelectable(definition, field)) throw badRequest(`field label not supported: ${field}`);
    return { field, value, negated: sign === '!=' };
  });
}

/** Resolves the escapes `\\`, `\,` and `\=`. Throws BadRequest for other escapes and for an unescaped `,` or `=`. */
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

/** Parses the label and field selector of a request. Throws BadRequest. */
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
      indexValues: (required.get(indexed) ?? []).map((value) => indexValueOf(indexed, value)),
    }),
  };
}

/** Returns the index value of a label. */
export function indexValueOf(label: string, value = ''): string {
  return `${label}=${value}`;
}

type Labels = Readonly<Record<string, string>>;

/** A term of a label selector. All terms must match. */
type Term = (labels: Labels) => boolean;

export interface LabelSelector {
  holds(labels: Labels): boolean;
  /** Labels that must have one of the given values. */
  required: ReadonlyMap<string, readonly string[]>;
}

interface Token {
  /** 'word' for keys and values, 'end', or the symbol. */
  type: string;
  text: string;
}

const end: Token = { type: 'end', text: '' };

/** Matches a word or a symbol, the longest first. */
const tokenPattern = /[\s]*(==|!=|[=!(),<>]|[^\s=!(),<>]+)/y;

function tokensOf(text: string): Token[] {
  const tokens: Token[] = [];
  tokenPattern.lastIndex = 0;
  for (let found = tokenPattern.exec(text); found; found = tokenPattern.exec(text)) {
    const word = found[1] ?? '';
    tokens.push({ type: /^[=!(),<>]/.test(word) ? word : 'word', text: word });
  }
  return tokens;
}

/**
 * Parses `a=b,c!=d,e in (f,g),!h,i>1`. Throws BadRequest. Grammar and messages follow labels.Parse of k8s.io/apimachinery.
 */
export function parseLabelSelector(text: string): LabelSelector {
  const parser = new Parser(tokensOf(text));
  const terms = parser.terms();
  return { holds: (labels) => terms.every((holds) => holds(labels)), required: parser.required };
}

/** Limit of terms per selector: each term is compared with every object, and with every event per watch. */
export const maxTerms = 1_000;

function unfit(message: string) {
  return badRequest(`unable to parse requirement: ${message}`);
}

class Parser {
  readonly required = new Map<string, readonly string[]>();
  readonly #tokens: readonly Token[];
  #at = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  terms(): Term[] {
    const terms: Term[] = [];
    if (this.#next().type === 'end') return terms;
    if (!this.#startsTerm()) {
      throw badRequest(`found '${this.#next().text}', expected: !, identifier, or 'end of string'`);
    }
    for (;;) {
      terms.push(this.#term());
      if (terms.length > maxTerms) throw badRequest(`the label selector has more than ${maxTerms} terms`);
      const { type, text } = this.#take();
      if (type === 'end') return terms;
      if (type !== ',') throw badRequest(`found '${text}', expected: ',' or 'end of string'`);
      if (!this.#startsTerm())
        throw badRequest(`found '${this.#next().text}', expected: identifier after ','`);
    }
  }

  #next(): Token {
    return this.#tokens[this.#at] ?? end;
  }

  #take(): Token {
    return this.#tokens[this.#at++] ?? end;
  }

  #startsTerm(): boolean {
    return ['word', '!'].includes(this.#next().type);
  }

  #endsTerm(): boolean {
    return ['end', ','].includes(this.#next().type);
  }

  #term(): Term {
    const mustBeAbsent = this.#next().type === '!';
    if (mustBeAbsent) this.#take();
    const { type, text: key } = this.#take();
    if (type !== 'word') throw unfit(`found '${key}', expected: identifier`);
    const faults = qualifiedFaults(key);
    if (faults.length > 0) throw unfit(`<nil>: Invalid value: ${JSON.stringify(key)}: ${faults.join('; ')}`);
    if (mustBeAbsent) return (labels) => !Object.hasOwn(labels, key);
    if (this.#endsTerm()) return (labels) => Object.hasOwn(labels, key);
    return this.#comparison(key, this.#take().text);
  }

  #comparison(key: string, operator: string): Term {
    switch (operator) {
      case 'in': {
        const values = this.#values();
        this.required.set(key, values);
        return membership(key, values, false);
      }
      case 'notin':
        return membership(key, this.#values(), true);
      case '!=':
        return membership(key, [this.#value()], true);
      case '=':
      case '==': {
        const value = this.#value();
        this.required.set(key, [value]);
        return membership(key, [value], false);
      }
      case '>':
      case '<':
        return order(key, operator, this.#value());
      default:
        throw unfit(`found '${operator}', expected: in, notin, =, ==, !=, gt, lt`);
    }
  }

  /** Parses a value, which may be empty before a comma or the end. */
  #value(): string {
    if (this.#endsTerm()) return '';
    const { type, text } = this.#take();
    if (type !== 'word') throw unfit(`found '${text}', expected: identifier`);
    return text;
  }

  #values(): string[] {
    const open = this.#take();
    if (open.type !== '(') throw unfit(`found '${open.text}' expected: '('`);
    if (!['word', ',', ')'].includes(this.#next().type))
      throw unfit(`found '${this.#next().text}', expected: ',', ')' or identifier`);
    const values: string[] = [];
    for (;;) {
      values.push(this.#next().type === 'word' ? this.#take().text : '');
      const { type, text } = this.#take();
      if (type === ')') return values;
      if (type !== ',') throw unfit(`found '${text}', expected: ',' or ')'`);
    }
  }
}

/** `!=` and `notin` also match objects without the label. */
function membership(key: string, given: readonly string[], negated: boolean): Term {
  const values = new Set(given);
  checkValues(key, [...values].sort());
  return (labels) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    return (value !== undefined && values.has(value)) !== negated;
  };
}

function checkValues(key: string, values: readonly string[]): void {
  for (const [index, value] of values.entries()) {
    const faults = labelValueFaults(value);
    if (faults.length === 0) continue;
    throw unfit(`values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${faults.join('; ')}`);
  }
}

const integer = /^[+-]?\d{1,18}$/;

/** `>` and `<` compare integers; a label with another value does not match. */
function order(key: string, operator: '>' | '<', bound: string): Term {
  if (!integer.test(bound)) {
    throw unfit(
      `values[0]: Invalid value: ${JSON.stringify(bound)}: for 'Gt', 'Lt' operators, the value must be an integer`,
    );
  }
  return (labels) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    if (value === undefined || !integer.test(value)) return false;
    const difference = BigInt(value) - BigInt(bound);
    return operator === '>' ? difference > 0n : difference < 0n;
  };
}
