const chunkBytes = 1 << 20;
/** A longer text is a string of its own. */
const longest = chunkBytes / 4;
const headerBytes = 3;
/** Places are counted in units of so many bytes, so that 32 bits are enough for all. */
const unit = 4;
/** From this place on, texts are strings of their own. */
const firstLong = 2 ** 31;

/**
 * Very many short texts of one-byte characters, beside the JavaScript heap: there each would be an object that the collector looks at, and
 * the heap would hold as much again before it is cleared up. A place that is freed is used for a text of about the same length; chunks
 * are kept, so the memory is that of the most texts of each length there have ever been.
 */
export class Slab {
  readonly #chunks: Buffer[] = [];
  /** How far the last chunk is in use. */
  #used = chunkBytes;
  readonly #free = new Map<number, number[]>();
  readonly #long = new Map<number, string>();
  #nextLong = firstLong;

  /** Where the text is from now on: a number below 2^32 - 1. */
  add(text: string): number {
    if (text.length > longest) {
      const place = this.#nextLong;
      this.#nextLong += 1;
      this.#long.set(place, text);
      return place;
    }
    const room = roomFor(text.length);
    const place = this.#free.get(room)?.pop() ?? this.#take(room);
    const { chunk, at } = this.#find(place);
    chunk.writeUIntLE(text.length, at, headerBytes);
    chunk.write(text, at + headerBytes, 'latin1');
    return place;
  }

  get(place: number): string {
    if (place >= firstLong) return this.#long.get(place) ?? '';
    const { chunk, at } = this.#find(place);
    const from = at + headerBytes;
    return chunk.toString('latin1', from, from + chunk.readUIntLE(at, headerBytes));
  }

  /** The text is gone; its place may be given to another one. */
  free(place: number): void {
    if (place >= firstLong) {
      this.#long.delete(place);
      return;
    }
    const { chunk, at } = this.#find(place);
    const room = roomFor(chunk.readUIntLE(at, headerBytes));
    const places = this.#free.get(room);
    if (places === undefined) this.#free.set(room, [place]);
    else places.push(place);
  }

  #take(room: number): number {
    if (this.#used + room > chunkBytes) {
      this.#chunks.push(Buffer.allocUnsafeSlow(chunkBytes));
      this.#used = 0;
    }
    const place = (this.#chunks.length - 1) * chunkBytes + this.#used;
    this.#used += room;
    return place / unit;
  }

  #find(place: number): { chunk: Buffer; at: number } {
    const bytes = place * unit;
    const chunk = this.#chunks[Math.floor(bytes / chunkBytes)];
    if (chunk === undefined) throw new RangeError(`there is no place ${place}`);
    return { chunk, at: bytes % chunkBytes };
  }
}

/** The bytes that a text takes, so that places of a room are many: at most a thirtieth is lost. */
function roomFor(length: number): number {
  const bytes = length + headerBytes;
  const step = Math.max(unit, 2 ** (Math.floor(Math.log2(bytes)) - 5));
  return Math.ceil(bytes / step) * step;
}
