/** Characters of a piece, but for a longer text. */
const pieceLength = 32 * 1024;
/** YAML takes no longer key before its colon, nor one of several lines. */
const longestKey = 1024;

/** What begins with a letter or a slash, and in which no letter begins or ends anything in YAML. */
const plainText = /^[A-Za-z/](?:[\w./@+%=;~^-]|:(?=[\w./]))*(?: [\w./@+%=;~^-]+)*$/;
/** Words that YAML 1.1 reads as something else than text. */
const otherWord = /^(?:y|n|yes|no|on|off|true|false|null|nan|inf)$/i;
/** Characters that JSON leaves as they are and YAML does not take, or takes for the end of a line. */
const unprintable = /[\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]/gu;

/**
 * A JSON value as YAML 1.1 in the form of `kubectl get -o yaml`, in pieces of a ms of work each. An iterable is a list, whose items may be
 * made while they are written. Texts are quoted wherever a reader could take them for something else.
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

/** `first` comes before the first entry: the first one of an item stands on the line of its dash. */
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
    // As kubectl writes it, a list stands no further in than its key.
    else yield* write(out, value, isList(value) ? indent : `${indent}  `);
  }
  if (before === undefined) out.text += isList(collection) ? ' []' : ' {}';
}

const dash = '-';

/** What each entry begins with, and its value. */
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
