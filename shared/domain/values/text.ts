import { printableLines } from '#shared/base/errors';

/**
 * Cuts a message for a status: removes control characters other than line breaks and tabs, and everything beyond `bytes` bytes of
 * UTF-8 JSON, with `…` at the cut.
 */
export function cut(message: string, bytes: number): string {
  const text = printableLines(message);
  if (printed(text) <= bytes) return text;
  let result = '';
  let used = printed('…');
  for (const character of text) {
    used += printed(character);
    if (used > bytes) break;
    result += character;
  }
  return `${result}…`;
}

/** Returns a message in one line, for lists: its first line and its last, where a log says most. */
export function brief(message: string): string {
  const [first = '', ...others] = message.split('\n').filter((line) => line.trim() !== '');
  const last = others.at(-1);
  return last === undefined ? first : `${first} … ${last.trim()}`;
}

// Measuring a long text would take time, and each character prints to at least one byte.
function printed(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}
