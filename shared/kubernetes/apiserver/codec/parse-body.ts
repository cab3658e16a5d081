import { ArcError } from '#shared/base/errors';
import { isRecord, largestBodyBytes } from '#shared/base/meta';
import { yamlToJson } from '#shared/base/yaml';
import { badRequest } from '../errors/api-errors.ts';
import { exceededLimit, type JsonLimits, scanJson } from './json-scan.ts';

/** Size limit of a body in bytes. */
export const bodyLimit = largestBodyBytes;
/** Nesting limit: far above any real object, far below the depth at which recursion overflows the stack. */
const depthLimit = 500;
/**
 * Limits of a body that bound the duration of each step of a request; kube-apiserver has no such limits. An Order whose status fits has
 * fewer than 8,000 artifacts.
 */
export const bodyLimits: JsonLimits = { depth: depthLimit, values: 100_000, fields: 10_000 };

const yamlLimits = { what: 'the body', characters: 256 * 1024, depth: depthLimit, size: bodyLimit };

/** A parsed body, and the paths of its duplicate keys. */
export interface ParsedBody {
  value: unknown;
  duplicates: string[];
}

/** Parses JSON or YAML. YAML is converted to JSON, so the same limits apply. Rejects with BadRequest or RequestEntityTooLarge. */
export async function parseBody(bytes: Uint8Array, type: string): Promise<ParsedBody> {
  const text = decodeText(bytes);
  if (text.trim() === '') return { value: undefined, duplicates: [] };
  const mayBeYaml = type === 'application/yaml' || type === 'application/apply-patch+yaml';
  const asJson = mayBeYaml ? jsonInYaml(text) : parseJson(text);
  return asJson ?? parseJson(await yamlToJson(text, yamlLimits));
}

/** Parses YAML that is JSON, as most clients send it, which is many times faster. Undefined if it is not JSON. */
function jsonInYaml(text: string): ParsedBody | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    return parseJson(text);
  } catch (caught) {
    // A YAML flow mapping also begins with a brace.
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

/** Like JSON.parse, but enforces limits, rejects `__proto__` keys and numbers that lose precision, and finds duplicate keys. */
export function parseJson(text: string): ParsedBody {
  checkLimits(text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (caught) {
    const reason = caught instanceof Error ? caught.message : String(caught);
    throw new ArcError('BadRequest', `the body is not valid JSON: ${reason}`, { cause: caught });
  }
  const { duplicates, prototypeKey, overflow, inexact } = scanJson(text);
  // Assigning such a field sets the prototype of an object, so the field would be lost.
  if (prototypeKey) throw badRequest('the body has a field "__proto__", which cannot be stored');
  if (overflow) throw badRequest('the body is not valid JSON: a number is out of range');
  if (inexact)
    throw badRequest(
      `the number ${inexact.number} at ${inexact.path.slice(0, 256)} exceeds the precision of a float64: send it as a string`,
    );
  return { value: surrogate.test(text) ? wellFormed(value) : value, duplicates };
}

function checkLimits(text: string): void {
  const { depth, values, fields } = bodyLimits;
  switch (exceededLimit(text, bodyLimits)) {
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

/** Matches escaped surrogates. Unescaped lone surrogates are not valid UTF-8. */
const surrogate = /\\u[dD][89a-fA-F]/;

/** Replaces lone surrogates in keys and values by U+FFFD, as Go's decoder does. Mutates its argument. */
function wellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(wellFormed);
  if (!isRecord(value)) return value;
  for (const [key, inner] of Object.entries(value)) value[key] = wellFormed(inner);
  if (Object.keys(value).every((key) => key.isWellFormed())) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key.toWellFormed(), inner]));
}
