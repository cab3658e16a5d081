/** Builds a part of a response in a growable buffer, from stored bytes and short strings. */
export class BytesWriter {
  #buffer: Buffer;
  #length = 0;

  /** @param size initial size in bytes */
  constructor(size: number) {
    this.#buffer = Buffer.allocUnsafeSlow(size);
  }

  get length(): number {
    return this.#length;
  }

  bytes(source: Uint8Array, from = 0, to = source.byteLength): void {
    this.#reserve(to - from);
    this.#buffer.set(
      from === 0 && to === source.byteLength ? source : source.subarray(from, to),
      this.#length,
    );
    this.#length += to - from;
  }

  text(text: string): void {
    // A UTF-16 code unit takes at most three bytes in UTF-8.
    this.#reserve(text.length * 3);
    this.#length += this.#buffer.write(text, this.#length);
  }

  /** Returns the written bytes. The writer must not be used afterwards. */
  take(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** Like take(), but copies into a buffer of the exact size, for bytes that are cached. */
  takeExact(): Buffer {
    const exact = Buffer.allocUnsafeSlow(this.#length);
    this.#buffer.copy(exact, 0, 0, this.#length);
    return exact;
  }

  #reserve(more: number): void {
    if (this.#length + more <= this.#buffer.byteLength) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(this.#buffer.byteLength * 2, this.#length + more));
    this.#buffer.copy(larger, 0, 0, this.#length);
    this.#buffer = larger;
  }
}
