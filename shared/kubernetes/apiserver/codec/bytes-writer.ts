/** Builds a part of a response in one buffer from stored bytes and short texts. */
export class BytesWriter {
  #buffer: Buffer;
  #length = 0;

  /** `size`: bytes to begin with; it grows as needed. */
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
    // A UTF-16 unit takes at most three bytes.
    this.#reserve(text.length * 3);
    this.#length += this.#buffer.write(text, this.#length);
  }

  /** The bytes written. The writer must not be used afterwards. */
  take(): Buffer {
    return this.#buffer.subarray(0, this.#length);
  }

  /** As take(), in a buffer of exactly that size, for bytes that are kept. */
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
