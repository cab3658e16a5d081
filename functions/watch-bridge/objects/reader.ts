import { smallest, tag, timeText } from './scalars.ts';

/** A value that has a number, and the names that it stands for where it is a list of names. */
export interface Known {
  value: unknown;
  names: readonly string[];
}

/** Reads one text of the codec. */
export class Reader {
  readonly #text: string;
  readonly #known: readonly Known[];
  #at = 0;

  constructor(text: string, known: readonly Known[]) {
    this.#text = text;
    this.#known = known;
  }

  value(): unknown {
    const code = this.#text.charCodeAt(this.#at);
    if (code >= 0x80) return this.#numbered().value;
    if (code >= smallest) {
      this.#at += 1;
      return code - smallest;
    }
    switch (this.#take(1)) {
      case tag.object:
        return this.#object();
      case tag.array:
        return Array.from({ length: this.#size() }, () => this.value());
      case tag.latin:
        return this.#take(this.#size());
      case tag.integer:
        return this.#size();
      case tag.time:
        return timeText(this.#fourBytes());
      case tag.uuid:
        return uuidText(hexOf(this.#take(16)));
      case tag.digest:
        return `sha256:${hexOf(this.#take(32))}`;
      case tag.hex:
        return hexOf(this.#take(this.#size()));
      case tag.decimal:
        return String(this.#size());
      case tag.tailed:
        return this.#take(this.#size()) + hexOf(this.#take(8));
      case tag.wide:
        return utf8Of(this.#take(this.#size()));
      case tag.json:
        return JSON.parse(utf8Of(this.#take(this.#size())));
      case tag.true:
        return true;
      case tag.false:
        return false;
      default:
        return null;
    }
  }

  #object(): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    for (const name of this.#names()) object[name] = this.value();
    return object;
  }

  #names(): readonly string[] {
    return this.#text.charCodeAt(this.#at) >= 0x80 ? this.#numbered().names : namesOf(this.value());
  }

  #numbered(): Known {
    const number = ((this.#text.charCodeAt(this.#at) & 0x7f) << 8) | this.#text.charCodeAt(this.#at + 1);
    this.#at += 2;
    const known = this.#known[number];
    if (known === undefined) throw new RangeError(`no value has the number ${number}`);
    return known;
  }

  #size(): number {
    let count = 0;
    for (let weight = 1; ; weight *= 0x80) {
      const byte = this.#text.charCodeAt(this.#at);
      this.#at += 1;
      count += (byte & 0x7f) * weight;
      if (byte < 0x80) return count;
    }
  }

  #fourBytes(): number {
    let value = 0;
    for (const end = this.#at + 4; this.#at < end; this.#at += 1)
      value = value * 0x100 + this.#text.charCodeAt(this.#at);
    return value;
  }

  #take(length: number): string {
    this.#at += length;
    return this.#text.slice(this.#at - length, this.#at);
  }
}

function hexOf(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('hex');
}

function utf8Of(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

function uuidText(hex: string): string {
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The names of fields that a value lists; an object without fields has none. */
export function namesOf(value: unknown): readonly string[] {
  return typeof value === 'string' && value !== '' ? value.split('\n') : [];
}
