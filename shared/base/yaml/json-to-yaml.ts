/** Characters per piece; a single longer text is one piece. */
const pieceLength = 32 * 1024;
/** The longest key that YAML allows before a colon; it may not contain line breaks. */
const longestKey = 1024;

/** Begins with a letter or slash, and contains no character that is special in YAML. */
const plainText = /^[A-Za-z/](?:[\w./@+%=;~^-]|:(?=[\w./]))*(?: [\w./@+%=;~^-]+)*$/;
/** Words that YAML 1.1 does not read as text. */
const otherWord = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i;
/** Characters that JSON does not escape, and that YAML forbids or reads as the end of a line. */
const unprintable = /[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]/gu;

/**
 * Prints a JSON value as YAML 1.1 in the form of `kubectl get -o yaml`, in pieces of about a millisecond of work. An iterable is printed as a
 * list, whose items may be produced lazily. Texts that a reader could take for anything else are quoted.
 */
export function* jsonToYaml(value: unknown): Generator<string, void> {
  const out = { text: '' };
  if (isCollection(value)) yield* write(out, value, '', '');
  else out.text = scalar(value);
  yield `${out.text}\n`;
}

type Collection = Iterable<unknown> | Record<string, unknown>;

const isCollection = (value: unknown): value is Collection => typeof value === 'object' && value !== null;
const isList = (value: Collection): value is Iterable<unknown> => Symbol.iterator in value;

/** `first` precedes the first entry: the first entry of an item shares the line of its dash. */
function* write(
  out: { text: string },
  collection: Collection,
  indent: string,
  first = `\n${indent}`,
): Generator<string, void> {
  let before: string | undefined;
  for (const [start, value] of entriesOf(collection, indent)) {
    if (out.text.length >= pieceLength) {
      yield out.text;
      out.text = '';
    }
    before = before === undefined ? first : `\n${indent}`;
    out.text += before + start;
    if (!isCollection(value)) out.text += ` ${scalar(value)}`;
    else if (start === dash) yield* write(out, value, `${indent}  `, ' ');
    // As kubectl prints it, a list is not indented below its key.
    else yield* write(out, value, isList(value) ? indent : `${indent}  `);
  }
  if (before === undefined) out.text += isList(collection) ? ' []' : ' {}';
}

const dash = '-';

/** Yields the prefix of each entry, and its value. */
function* entriesOf(collection: Collection, indent: string): Generator<[start: string, value: unknown]> {
  if (isList(collection)) {
    for (const item of collection) yield [dash, item];
    return;
  }
  for (const key of Object.keys(collection)) {
    const value = collection[key];
    if (value !== undefined) yield [head(key, indent), value];
  }
}

function head(key: string, indent: string): string {
  const text = scalar(key);
  return text.length <= longestKey ? `${text}:` : `? ${text}\n${indent}:`;
}

function scalar(value: unknown): string {
  if (typeof value === 'number') return JSON.stringify(value).replace(/^(-?\d+)e/, '$1.0e'); // 1e+21 is a text to some
  if (typeof value !== 'string') return JSON.stringify(value) ?? 'null';
  if (value.length <= longestKey && plainText.test(value) && !otherWord.test(value)) return value;
  return JSON.stringify(value).replace(
    unprintable,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
