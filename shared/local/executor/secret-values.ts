import { isRecord } from '#shared/base/meta';

/** Names of fields whose values are no secrets, though they stand among such. */
const open = /^(user(name)?|email|type|url|region|endpoint|host)$/i;
/** Names of fields of a document whose values are. */
const closed = /pass|secret|token|credential|auth|key/i;
const deepest = 8;

/**
 * What is secret in a value of a Secret: all of it, and where it is a JSON document (a rendered job, a docker configuration), each text in
 * it whose name says that it is a credential or stands among credentials.
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
