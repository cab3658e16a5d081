import { isAlias, isMap, isScalar, isSeq, type Node, parseAllDocuments, type Scalar } from 'yaml';
import { ArcError } from '#shared/errors';
import { isRecord } from '#shared/meta';
import { badRequest } from '../errors/request-errors.ts';
import { plainScalar } from './yaml-scalar.ts';

/** Most bytes of a YAML body. Parsing YAML takes a hundred times as long as JSON and blocks all other requests. */
export const yamlLimit = 512 * 1024;

interface Limits {
  depth: number;
  /** Most characters of the document with every alias expanded. */
  size: number;
}

/** A value, and about how many characters it has as JSON with all aliases expanded. */
interface Sized {
  value: unknown;
  size: number;
}

/**
 * One YAML document as JSON, in time linear in its length, however many keys and anchors it has. Rejects with
 * BadRequest for broken YAML, several documents, keys named twice, cycles, and aliases or nesting beyond the limits; with
 * RequestEntityTooLarge for more than 512 KiB.
 */
export function yamlToJson(text: string, limits: Limits): string {
  if (text.length > yamlLimit) {
    throw new ArcError(
      'RequestEntityTooLarge',
      `Request entity too large: limit is ${yamlLimit} for YAML; JSON may have more`,
    );
  }
  const [document, ...more] = parsed(text, limits);
  if (more.length > 0) throw unreadable('the body holds several documents: send one object in a request');
  if (!document) return '';
  return JSON.stringify(new Reader(limits).read(document, 0).value) ?? '';
}

/** The library's check for repeated keys is quadratic, so the reader does it instead. */
function parsed(text: string, limits: Limits): Node[] {
  try {
    const found = parseAllDocuments(text, { uniqueKeys: false, prettyErrors: true, logLevel: 'silent' });
    if (!Array.isArray(found)) return [];
    return found.flatMap(({ errors, contents }) => {
      const [error] = errors;
      if (error) throw error;
      return contents ? [contents as Node] : [];
    });
  } catch (caught) {
    const reason = caught instanceof Error ? caught.message : String(caught);
    // The library reads nested collections recursively and reports a full stack in one of two ways.
    if (reason.includes('Maximum call stack')) throw tooDeep(limits);
    throw unreadable(reason.split('\n')[0]?.replace(/:$/, '') ?? reason, caught);
  }
}

function unreadable(reason: string, cause?: unknown): ArcError {
  return new ArcError('BadRequest', `error converting YAML to JSON: ${reason}`, { cause });
}

function tooDeep({ depth }: Limits): ArcError {
  return badRequest(`the body is nested deeper than ${depth} levels`);
}

class Reader {
  readonly #limits: Limits;
  /** The value of each anchor at this point of the document; undefined while it is being read. */
  readonly #anchors = new Map<string, Sized | undefined>();

  constructor(limits: Limits) {
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
      if (fields.has(name)) throw unreadable(`key ${JSON.stringify(name)} already set in map`);
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

/** `<<` adds the fields of one or several mappings that the mapping itself does not have. */
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

/** The library implements YAML 1.2; a scalar that is neither quoted nor tagged is read as Kubernetes reads it. */
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
