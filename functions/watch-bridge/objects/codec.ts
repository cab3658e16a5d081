import { type Known, namesOf, Reader } from './reader.ts';
import { encodeScalar, knownText, mostKnown, size, tag } from './scalars.ts';

/** So often a value has to come, among at most so many different ones, before it gets a number. */
const promotedAt = 12;
const mostCandidates = 20_000;
/** A longer value is seldom the same twice, and costs more to look up; lists of names are long and often the same. */
const longestText = 200;
const longestOther = 40;
/** What is of one object alone, or of one moment. */
const unique: ReadonlySet<string> = new Set([tag.uuid, tag.digest, tag.time, tag.decimal]);

/**
 * JSON values as short texts of one-byte characters, and back. What comes often (names of fields, namespaces and types, phases, whole
 * objects) is written as a number that this codec gives it, so that a text can be read by the codec that wrote it and by no other.
 * Values that come out may share parts: they are read-only.
 */
export class Codec {
  readonly #numbers = new Map<string, string>();
  /** The same for strings as they are: most values are such, and need not be written to be found. */
  readonly #strings = new Map<unknown, string>();
  readonly #known: Known[] = [];
  #candidates = new Map<string, number>();

  encode(value: unknown): string {
    return this.#strings.get(value) ?? this.#short(this.#plain(value));
  }

  decode(text: string): unknown {
    return new Reader(text, this.#known).value();
  }

  #plain(value: unknown): string {
    if (typeof value !== 'object' || value === null) return encodeScalar(value);
    if (Array.isArray(value))
      return value.reduce<string>((text, one) => text + this.encode(one), tag.array + size(value.length));
    const fields = Object.entries(value).filter(([, one]) => one !== undefined);
    if (fields.some(([name]) => name === '' || name === '__proto__' || name.includes('\n')))
      return encodeScalar(value);
    // The names together are one value: objects of a form share it.
    const names = this.encode(fields.map(([name]) => name).join('\n'));
    return fields.reduce((text, [, one]) => text + this.encode(one), tag.object + names);
  }

  /** The number of what comes often. What is first gets one, and none is taken back: texts that hold it live on. */
  #short(text: string): string {
    const kind = text.charAt(0);
    if (text.length <= 2 || text.length > (kind === tag.latin ? longestText : longestOther)) return text;
    if (unique.has(kind)) return text;
    const number = this.#numbers.get(text);
    if (number !== undefined || this.#known.length === mostKnown) return number ?? text;
    const times = (this.#candidates.get(text) ?? 0) + 1;
    if (times === promotedAt) return this.#promote(text);
    if (this.#candidates.size === mostCandidates) this.#candidates = new Map();
    this.#candidates.set(text, times);
    return text;
  }

  #promote(text: string): string {
    const value = this.decode(text);
    const number = this.#known.push({ value, names: namesOf(value) }) - 1;
    const short = knownText(number);
    this.#candidates.delete(text);
    this.#numbers.set(text, short);
    if (typeof value === 'string') this.#strings.set(value, short);
    return short;
  }
}
