import { isRecord } from '#shared/base/meta';

/** Names of fields whose values are not secret, although they are beside secret ones. */
const open = /^(user(name)?|email|type|url|region|endpoint|host)$/i;
/** Names of fields whose values are secret. */
const closed = /pass|secret|token|credential|auth|key/i;
const deepest = 8;

/**
 * Returns the secret texts in a value of a Secret: the whole value, and for a JSON document (a rendered job, a docker configuration) each text
 * whose name says that it is a credential, or that is beside credentials.
 */
export function secretsIn(key: string, text: string): string[] {
  const parsed = documentOf(text);
  if (parsed !== undefined) return [text, ...inDocument(parsed, false, deepest)];
  // Files end with a line break that a program does not print.
  return open.test(key) ? [] : [text, text.trim()];
}

function documentOf(text: string): Record<string, unknown> | undefined {
  if (!text.trimStart().startsWith('{')) return undefined;
  try {
    const parsed: unknown = JSON.parse(text);
    return isRecord(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

function inDocument(value: Record<string, unknown>, isSecret: boolean, depth: number): string[] {
  if (depth === 0) return [];
  return Object.entries(value).flatMap(([name, one]) => {
    const here = !open.test(name) && (isSecret || closed.test(name));
    if (typeof one === 'string') return here ? secretsIn(name, one) : [];
    return isRecord(one) ? inDocument(one, here, depth - 1) : [];
  });
}
