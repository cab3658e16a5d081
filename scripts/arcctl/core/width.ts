const ascii = /^[\x20-\x7e]*$/;
/** Characters that take two terminal columns: East Asian wide characters and emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
/** Combining characters, which take no column. */
const combining = /[\p{Mn}\p{Me}]/u;

/** Returns the width of printable text in terminal columns; rounded up where terminals differ. */
export function widthOf(text: string): number {
  if (ascii.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOfCharacter(character);
  return width;
}

/** Truncates text to a number of columns. */
export function cutTo(text: string, columns: number): string {
  if (ascii.test(text)) return text.slice(0, Math.max(0, columns));
  let [left, end] = [columns, 0];
  for (const character of text) {
    left -= widthOfCharacter(character);
    if (left < 0) break;
    end += character.length;
  }
  return text.slice(0, end);
}

/** `padEnd` by columns. */
export function padTo(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}

function widthOfCharacter(character: string): number {
  if (wide.test(character)) return 2;
  return character !== '\ufe0f' && combining.test(character) ? 0 : 1;
}
