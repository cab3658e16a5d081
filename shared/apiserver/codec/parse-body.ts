import { ArcError } from '#shared/errors';
import { largestBodyBytes } from '#shared/meta';
import { badRequest } from '../errors/request-errors.ts';
import { nestsDeeper, scanJson } from './json-scan.ts';
import { yamlToJson } from './yaml-body.ts';

/** Bytes a body may have. */
export const bodyLimit = largestBodyBytes;
/** Most levels of nesting in a body: far above any real object, far below the depth at which a recursive walk overflows the stack. */
export const depthLimit = 500;

/** A parsed body, and the paths of keys that it names twice. */
export interface ParsedBody {
  value: unknown;
  duplicates: string[];
}

/** JSON or YAML to a value. YAML goes through JSON, so both meet the same limits. Rejects with BadRequest. */
export function parseBody(bytes: Uint8Array, type: string): ParsedBody {
  const text = decodeText(bytes);
  if (text.trim() === '') return { value: undefined, duplicates: [] };
  const mayBeYaml = type === 'application/yaml' || type === 'application/apply-patch+yaml';
  const asJson = mayBeYaml ? jsonInYaml(text) : parseJson(text);
  return asJson ?? parseJson(yamlToJson(text, { depth: depthLimit, size: bodyLimit }));
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

function decodeText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (caught) {
    throw new ArcError('BadRequest', 'the body is not valid UTF-8', { cause: caught });
  }
}

/** JSON.parse that refuses deep nesting, drops `__proto__` keys and finds keys named twice. */
export function parseJson(text: string): ParsedBody {
  if (nestsDeeper(text, depthLimit)) throw badRequest(`the body is nested deeper than ${depthLimit} levels`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (caught) {
    const reason = caught instanceof Error ? caught.message : String(caught);
    throw new ArcError('BadRequest', `the body is not valid JSON: ${reason}`, { cause: caught });
  }
  const { duplicates, prototypeKey } = scanJson(text);
  if (prototypeKey) value = JSON.parse(text, (key, inner) => (key === '__proto__' ? undefined : inner));
  if (mayOverflow.test(text)) JSON.parse(text, (_key, inner) => finite(inner));
  if (surrogate.test(text))
    value = JSON.parse(text, (key, inner) => (key === '__proto__' ? undefined : wellFormed(inner)));
  return { value, duplicates };
}

/** A number beyond float64 cannot be stored. */
const mayOverflow = /[:[,\s]-?\d[\d.]*[eE]\+?\d{3}|\d{309}/;
function finite(value: unknown): unknown {
  if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY)
    throw badRequest('the body is not valid JSON: a number is out of range');
  return value;
}

/** Half a surrogate pair cannot be stored as UTF-8: it becomes U+FFFD, as in Go's decoder. */
const surrogate = /\\u[dD][89a-fA-F]/;
function wellFormed(value: unknown): unknown {
  return typeof value === 'string' ? value.toWellFormed() : value;
}
