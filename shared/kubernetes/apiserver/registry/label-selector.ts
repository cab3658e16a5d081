import { badRequest } from '../errors/api-errors.ts';
import { labelValueFaults, qualifiedFaults } from '../validation/name-rules.ts';

type Labels = Readonly<Record<string, string>>;

/** One term of a selector; all must hold. */
type Term = (labels: Labels) => boolean;

export interface LabelSelector {
  holds(labels: Labels): boolean;
  /** Labels that have to have one of these values. */
  required: ReadonlyMap<string, readonly string[]>;
}

interface Token {
  /** 'word' for keys and values, 'end', or the symbol itself. */
  type: string;
  text: string;
}

const end: Token = { type: 'end', text: '' };

/** Words, and symbols with the longest first; white space separates. */
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
 * Parses `a=b,c!=d,e in (f,g),!h,i>1`; rejects with BadRequest. Grammar and messages are those of labels.Parse
 * (k8s.io/apimachinery).
 */
export function parseLabelSelector(text: string): LabelSelector {
  const parser = new Parser(tokensOf(text));
  const terms = parser.terms();
  return { holds: (labels) => terms.every((holds) => holds(labels)), required: parser.required };
}

/** Most terms of a selector: each is compared with each object, and with each event for each watch. */
export const mostTerms = 1_000;

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
      if (terms.length > mostTerms) throw badRequest(`the label selector has more than ${mostTerms} terms`);
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
    const absent = this.#next().type === '!';
    if (absent) this.#take();
    const { type, text: key } = this.#take();
    if (type !== 'word') throw unfit(`found '${key}', expected: identifier`);
    const faults = qualifiedFaults(key);
    if (faults.length > 0) throw unfit(`<nil>: Invalid value: ${JSON.stringify(key)}: ${faults.join('; ')}`);
    if (absent) return (labels) => !Object.hasOwn(labels, key);
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

  /** One value: empty before a comma or the end. */
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

/** `>` and `<` compare integers; any other label does not match. */
function order(key: string, operator: '>' | '<', bound: string): Term {
  if (!integer.test(bound)) {
    throw unfit(
      `values[0]: Invalid value: ${JSON.stringify(bound)}: for 'Gt', 'Lt' operators, the value must be an integer`,
    );
  }
  return (labels) => {
    const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
    if (value === undefined || !integer.test(value)) return false;
    const above = BigInt(value) - BigInt(bound);
    return operator === '>' ? above > 0n : above < 0n;
  };
}
