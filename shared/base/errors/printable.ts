/** Characters that change a terminal or a log: control characters, line separators, changes of direction. */
const unprintable = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
const unprintableInLines = /[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;
const unprintableInJson = /[\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** The short escapes of Go's %q, which Kubernetes uses. */
const short: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
};

const hex = (character: string, digits: number) => character.charCodeAt(0).toString(16).padStart(digits, '0');

function escaped(character: string): string {
  return short[character] ?? (character <= '\x7f' ? `\\x${hex(character, 2)}` : `\\u${hex(character, 4)}`);
}

/**
 * Returns a text in one readable line: unprintable characters are escaped as by Go's %q (`\n`, `\x00`, `\u202e`). A text
 * without such characters, even one that is escaped already, is unchanged.
 */
export function printable(text: string): string {
  return text.replace(unprintable, escaped);
}

/** As `printable`, for texts of several lines, such as the end of a log: line breaks and tabs are preserved. */
export function printableLines(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(unprintableInLines, escaped);
}

/** Escapes JSON so that it is harmless in a terminal: JSON itself escapes only characters below the space. */
export function printableJson(json: string): string {
  return json.replace(unprintableInJson, (character) => `\\u${hex(character, 4)}`);
}
