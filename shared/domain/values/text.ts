/** The start of a text that takes at most `bytes` bytes when JSON prints it in UTF-8, marked with `…` where it was cut. */
export function cut(text: string, bytes: number): string {
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

// A long text would cost time to measure whole: each character prints to at least one byte.
function printed(text: string): number {
  return Buffer.byteLength(JSON.stringify(text)) - 2;
}
