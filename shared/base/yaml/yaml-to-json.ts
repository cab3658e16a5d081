import {
  Composer,
  type CST,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node,
  Parser,
  type Scalar,
  type YAMLError,
} from 'yaml';
import { yieldToEventLoop } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import { plainScalar } from './plain-scalar.ts';

/** Maximum number of lexemes: parsing YAML takes a hundred times as long as JSON, and its last phase cannot be interrupted. */
const lexemeLimit = 150_000;
/** Lexemes per slice, about 2 ms. */
const sliceLexemes = 2_000;

export interface YamlLimits {
  /** Names the text in messages, such as `the body`. */
  what: string;
  /** Maximum number of characters of the text. */
  characters: number;
  depth: number;
  /** True: the last of duplicate keys wins, as in go-yaml's lenient reader; otherwise duplicates are refused. */
  lenient?: boolean;
  /** Maximum number of characters of the document with every alias expanded. */
  size: number;
}

/** A value, with its approximate size as JSON with all aliases expanded, in characters. */
interface Sized {
  value: unknown;
  size: number;
}

/**
 * Converts one YAML document to JSON, integers up to uint64 with all their digits, in linear time, however many keys and anchors there are. Rejects
 * with BadRequest for invalid YAML, several documents, duplicate keys, cycles, and aliases or nesting beyond the limits; with
 * RequestEntityTooLarge for too many characters.
 */
export async function yamlToJson(text: string, limits: YamlLimits): Promise<string> {
  if (text.length > limits.characters) throw tooLarge(`limit is ${limits.characters} for YAML`);
  const [document, ...more] = await parsed(text, limits);
  await yieldToEventLoop();
  if (more.length > 0) throw unreadable(`${limits.what} holds several documents, and only one can be read`);
  if (!document) return '';
  return JSON.stringify(new Reader(limits).read(document, 0).value, exactIntegers) ?? '';
}

declare global {
  interface JSON {
    /** Of ECMAScript 2026, which the compiler's types lack. */
    rawJSON(text: string): object;
  }
}

/** Prints a bigint with all its digits: the reader of the JSON decides whether it can represent them. */
function exactIntegers(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? JSON.rawJSON(String(value)) : value;
}

/** The library's check for duplicate keys is quadratic, so the reader checks instead. */
async function parsed(text: string, limits: YamlLimits): Promise<Node[]> {
  try {
    const lines = new LineCounter();
    const tokens = await tokensOf(text, lines);
    const composer = new Composer({ uniqueKeys: false, logLevel: 'silent' });
    return [...composer.compose(tokens)].flatMap(({ errors, contents }) => {
      const [error] = errors;
      if (error?.message.includes('Maximum call stack')) throw tooDeep(limits);
      if (error) throw unreadable(`${error.message}${placeOf(error, lines)}`, error);
      return contents ? [contents as Node] : [];
    });
  } catch (caught) {
    if (caught instanceof ArcError) throw caught;
    const reason = caught instanceof Error ? caught.message : String(caught);
    // The library reads nested collections recursively and reports a stack overflow in one of two ways.
    if (reason.includes('Maximum call stack')) throw tooDeep(limits);
    throw unreadable(reason.split('\n')[0] ?? reason, caught);
  }
}

function placeOf({ pos: [at] }: YAMLError, lines: LineCounter): string {
  const { line, col } = lines.linePos(at);
  return line > 0 ? ` at line ${line}, column ${col}` : '';
}

/** Lexes and parses with the library, yielding to the event loop in between. */
async function tokensOf(text: string, lines: LineCounter): Promise<CST.Token[]> {
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  lines.addNewLine(0);
  let lexemes = 0;
  for (const lexeme of new Lexer().lex(text)) {
    tokens.push(...parser.next(lexeme));
    lexemes += 1;
    if (lexemes > lexemeLimit) throw tooLarge('it has too many words and marks for YAML');
    if (lexemes % sliceLexemes === 0) await yieldToEventLoop();
  }
  tokens.push(...parser.end());
  return tokens;
}

function tooLarge(why: string): ArcError {
  return new ArcError('RequestEntityTooLarge', `Request entity too large: ${why}; JSON may have more`);
}

function unreadable(reason: string, cause?: unknown): ArcError {
  return new ArcError('BadRequest', `error converting YAML to JSON: ${reason}`, { cause });
}

function tooDeep({ what, depth }: YamlLimits): ArcError {
  return new ArcError('BadRequest', `${what} is nested deeper than ${depth} levels`);
}

class Reader {
  readonly #limits: YamlLimits;
  /** The value of each anchor at this point of the document; undefined while the anchored value is being read. */
  readonly #anchors = new Map<string, Sized | undefined>();

  constructor(limits: YamlLimits) {
    this.#limits = limits;
  }

  read(node: unknown, depth: number): Sized {
    if (depth > this.#limits.depth) throw tooDeep(this.#limits);
    if (isAlias(node)) return this.#alias(node.source);
    const anchor = isScalar(node) || isSeq(node) || isMap(node) ? node.anchor : undefined;
    if (anchor) this.#anchors.set(anchor, undefined);
    const sized = this.#collection(node, depth);
    if (sized.size > this.#limits.size) throw unreadable('its aliases stand for too much');
    if (anchor) this.#anchors.set(anchor, sized);
    return sized;
  }

  #alias(name: string): Sized {
    const found = this.#anchors.get(name);
    if (found) return found;
    throw unreadable(
      this.#anchors.has(name)
        ? `anchor '${name}' value contains itself`
        : `unknown anchor '${name}' referenced`,
    );
  }

  #collection(node: unknown, depth: number): Sized {
    if (isSeq(node)) {
      const items = node.items.map((item) => this.read(item, depth + 1));
      return { value: items.map(({ value }) => value), size: total(items) };
    }
    if (!isMap(node)) return scalar(node);
    const fields = new Map<string, Sized>();
    const merges: Sized[] = [];
    for (const { key, value } of node.items) {
      if (isMerge(key)) {
        merges.push(this.read(value, depth + 1));
        continue;
      }
      const name = nameOf(key);
      if (fields.has(name) && this.#limits.lenient !== true)
        throw unreadable(`key ${JSON.stringify(name)} already set in map`);
      fields.set(name, this.read(value, depth + 1));
    }
    const size = total([...fields.values(), ...merges]) + [...fields.keys()].join().length;
    const own = [...fields].map(([name, { value }]): [string, unknown] => [name, value]);
    return { value: Object.fromEntries([...merges.flatMap(merged), ...own]), size };
  }
}

function total(parts: readonly Sized[]): number {
  return parts.reduce((sum, { size }) => sum + size + 1, 2);
}

/** `<<` merges the fields of one or several mappings that the mapping itself does not have. */
function isMerge(key: unknown): boolean {
  return isPlain(key) && key.source === '<<';
}

/** The first of several mappings wins. */
function merged({ value }: Sized): [string, unknown][] {
  const sources = Array.isArray(value) ? [...value].reverse() : [value];
  if (!sources.every(isRecord)) throw unreadable('map merge requires map or sequence of maps as the value');
  return sources.flatMap((source) => Object.entries(source));
}

function isPlain(node: unknown): node is Scalar & { source: string } {
  return isScalar(node) && node.type === 'PLAIN' && node.tag === undefined && node.source !== undefined;
}

/** The library implements YAML 1.2; plain scalars are read as Kubernetes reads them. */
function scalarValue(node: unknown): unknown {
  if (isPlain(node)) return plainScalar(node.source);
  return isScalar(node) ? node.value : null;
}

function scalar(node: unknown): Sized {
  const value = scalarValue(node);
  if (typeof value === 'number' && !Number.isFinite(value)) throw unreadable(`unsupported value: ${value}`);
  return { value, size: typeof value === 'string' ? value.length + 2 : 5 };
}

function nameOf(key: unknown): string {
  const name = isScalar(key) ? scalarValue(key) : null;
  if (name !== null) return String(name);
  throw unreadable('a key must be a text, a number or a boolean');
}
