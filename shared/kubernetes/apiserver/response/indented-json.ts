/** Minimum length of a chunk in characters. */
const chunkLength = 32 * 1024;

/**
 * Yields the output of JSON.stringify with an indent of two, in chunks that take about a millisecond each. Serializes an iterable as a list,
 * whose items may be generated lazily.
 */
export function* indentedJson(value: unknown): Generator<string, void> {
  const out = { text: '' };
  if (isCollection(value)) yield* write(out, value, '\n');
  else out.text = JSON.stringify(value) ?? 'null';
  yield out.text;
}

type Collection = Iterable<unknown> | Record<string, unknown>;

const isCollection = (value: unknown): value is Collection => typeof value === 'object' && value !== null;
const isList = (value: Collection): value is Iterable<unknown> => Symbol.iterator in value;

/** @param line a newline with the indent of the collection */
function* write(out: { text: string }, collection: Collection, line: string): Generator<string, void> {
  const [open, close] = isList(collection) ? '[]' : '{}';
  const inside = `${line}  `;
  out.text += open;
  let before = inside;
  for (const [start, value] of entriesOf(collection)) {
    if (out.text.length >= chunkLength) {
      yield out.text;
      out.text = '';
    }
    out.text += before + start;
    before = `,${inside}`;
    if (isCollection(value)) yield* write(out, value, inside);
    else out.text += JSON.stringify(value) ?? 'null';
  }
  out.text += before === inside ? close : line + close;
}

/** Yields each value with its prefix: the key of a field, '' for a list item. */
function* entriesOf(collection: Collection): Generator<[start: string, value: unknown]> {
  if (isList(collection)) {
    for (const item of collection) yield ['', item];
    return;
  }
  for (const key of Object.keys(collection)) {
    const value = collection[key];
    if (value !== undefined) yield [`${JSON.stringify(key)}: `, value];
  }
}
