const chunkBytes = 1 << 20;
/** A longer text is a string of its own. */
const longest = chunkBytes / 4;
const headerBytes = 4;

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
  /** By a place below zero. */
  readonly #long = new Map<number, string>();
  #nextLong = -1;

  /** Where the text is from now on. */
  add(text: string): number {
    if (text.length > longest) {
      const place = this.#nextLong;
      this.#nextLong -= 1;
      this.#long.set(place, text);
      return place;
    }
    const room = roomFor(text.length);
    const place = this.#free.get(room)?.pop() ?? this.#take(room);
    const { chunk, at } = this.#find(place);
    chunk.writeUInt32LE(text.length, at);
    chunk.write(text, at + headerBytes, 'latin1');
    return place;
  }

  get(place: number): string {
    if (place < 0) return this.#long.get(place) ?? '';
    const { chunk, at } = this.#find(place);
    const from = at + headerBytes;
    return chunk.toString('latin1', from, from + chunk.readUInt32LE(at));
  }

  /** The text is gone; its place may be given to another one. */
  free(place: number): void {
    if (place < 0) {
      this.#long.delete(place);
      return;
    }
    const { chunk, at } = this.#find(place);
    const room = roomFor(chunk.readUInt32LE(at));
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
    return place;
  }

  #find(place: number): { chunk: Buffer; at: number } {
    const chunk = this.#chunks[Math.floor(place / chunkBytes)];
    if (chunk === undefined) throw new RangeError(`there is no place ${place}`);
    return { chunk, at: place % chunkBytes };
  }
}

/** The bytes that a text takes, so that places of a room are many: at most a thirtieth is lost. */
function roomFor(length: number): number {
  const bytes = length + headerBytes;
  const step = Math.max(8, 2 ** (Math.floor(Math.log2(bytes)) - 5));
  return Math.ceil(bytes / step) * step;
}
