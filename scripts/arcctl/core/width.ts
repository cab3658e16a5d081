const ascii = /^[\x20-\x7e]*$/;
/** What takes two columns of a terminal: the letters of East Asia, and emoji. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff01-\uff60\uffe0-\uffe6\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}/u;
/** What is drawn over the character before it. */
const combining = /[\p{Mn}\p{Me}]/u;

/** How many columns of a terminal a printable text takes; rather too many than too few, where terminals differ. */
export function widthOf(text: string): number {
  if (ascii.test(text)) return text.length;
  let width = 0;
  for (const character of text) width += widthOfCharacter(character);
  return width;
}

/** As much of the text as that many columns have room for. */
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

/** As `padEnd`, by columns. */
export function padTo(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}

function widthOfCharacter(character: string): number {
  if (wide.test(character)) return 2;
  return character !== '\ufe0f' && combining.test(character) ? 0 : 1;
}
