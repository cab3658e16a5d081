import { ArcError } from '#shared/base/errors';
import { isRecord, largestBodyBytes } from '#shared/base/meta';
import { yamlToJson } from '#shared/base/yaml';
import { badRequest } from '../errors/api-errors.ts';
import { exceeded, type JsonLimits, scanJson } from './json-scan.ts';

/** Bytes a body may have. */
export const bodyLimit = largestBodyBytes;
/** Most levels of nesting in a body: far above any real object, far below the depth at which a recursive walk overflows the stack. */
const depthLimit = 500;
/**
 * Most fields and items in a body, and in one object or list of it, so that each step of a request ends soon; kube-apiserver has no such
 * limit. An Order whose status fits has less than 8,000 artifacts.
 */
export const bodyLimits: JsonLimits = { depth: depthLimit, values: 100_000, fields: 10_000 };

const yamlLimits = { what: 'the body', characters: 256 * 1024, depth: depthLimit, size: bodyLimit };

/** A parsed body, and the paths of keys that it names twice. */
export interface ParsedBody {
  value: unknown;
  duplicates: string[];
}

/** JSON or YAML to a value. YAML goes through JSON, so both meet the same limits. Rejects with BadRequest or RequestEntityTooLarge. */
export async function parseBody(bytes: Uint8Array, type: string): Promise<ParsedBody> {
  const text = decodeText(bytes);
  if (text.trim() === '') return { value: undefined, duplicates: [] };
  const mayBeYaml = type === 'application/yaml' || type === 'application/apply-patch+yaml';
  const asJson = mayBeYaml ? jsonInYaml(text) : parseJson(text);
  return asJson ?? parseJson(await yamlToJson(text, yamlLimits));
}

/** Most clients that say YAML send JSON, which is YAML too. Parsing it as JSON is many times faster and finds repeated keys. */
function jsonInYaml(text: string): ParsedBody | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    return parseJson(text);
  } catch (caught) {
    // A YAML flow mapping begins with a brace as well.
    if (caught instanceof ArcError && caught.cause instanceof SyntaxError) return undefined;
    throw caught;
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true });

function decodeText(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (caught) {
    throw new ArcError('BadRequest', 'the body is not valid UTF-8', { cause: caught });
  }
}

/** JSON.parse that refuses what takes long, `__proto__` as a key and numbers that could not be kept, and finds keys named twice. */
export function parseJson(text: string): ParsedBody {
  checkLimits(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (caught) {
    const reason = caught instanceof Error ? caught.message : String(caught);
    throw new ArcError('BadRequest', `the body is not valid JSON: ${reason}`, { cause: caught });
  }
  const { duplicates, prototypeKey, inexact } = scanJson(text);
  // Much code takes such a field for the prototype of its object: it would be lost on the way.
  if (prototypeKey) throw badRequest('the body has a field "__proto__", which cannot be stored');
  if (mayOverflow.test(text) && holdsInfinity(value))
    throw badRequest('the body is not valid JSON: a number is out of range');
  // It would be stored as another number than was sent.
  if (inexact)
    throw badRequest(
      `the number ${inexact.number} at ${inexact.path.slice(0, 256)} has more digits than can be kept: write it as a text, in quotes`,
    );
  return { value: surrogate.test(text) ? wellFormed(value) : value, duplicates };
}

function checkLimits(text: string): void {
  const { depth, values, fields } = bodyLimits;
  switch (exceeded(text, bodyLimits)) {
    case 'depth':
      throw badRequest(`the body is nested deeper than ${depth} levels`);
    case 'values':
      throw tooMany(`the body has more than ${values} fields and items: split the object into several`);
    case 'fields':
      throw tooMany(
        `an object or list in the body has more than ${fields} fields or items: split it into several`,
      );
  }
}

const tooMany = (message: string) => new ArcError('RequestEntityTooLarge', message);

/** A number beyond float64 cannot be stored. */
const mayOverflow = /[:[,\s]-?\d[\d.]*[eE]\+?\d{3}|(?<!\d)\d{309}/;

function holdsInfinity(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  if (typeof value !== 'object' || value === null) return false;
  return (Array.isArray(value) ? value : Object.values(value)).some(holdsInfinity);
}

/** Half a surrogate pair cannot come otherwise: it is no UTF-8. */
const surrogate = /\\u[dD][89a-fA-F]/;

/** Half a surrogate pair, in a key or a value, cannot be stored as UTF-8: it becomes U+FFFD, as in Go's decoder. Changes its argument. */
function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (!isRecord(value)) return value;
  for (const [key, inner] of Object.entries(value)) value[key] = wellFormed(inner);
  if (Object.keys(value).every((key) => key.isWellFormed())) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key.toWellFormed(), inner]));
}
