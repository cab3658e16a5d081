/** Bytes buffered for a slow reader before the writer waits. */
const highWater = 256 * 1024;
/** Milliseconds after which a reader that takes nothing loses its watch. */
const stalledReaderMs = 30_000;

/**
 * The body of a watch response. No line is dropped: the writer waits in `drained()` for a slow reader. `stop` is aborted when the
 * reader leaves or takes nothing for 30 s; its client then lists again.
 */
export class LineStream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #stop: AbortController;
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #wake: (() => void) | undefined;

  constructor(stop: AbortController) {
    this.#stop = stop;
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        pull: () => this.#wake?.(),
        cancel: () => {
          this.#controller = undefined;
          stop.abort();
        },
      },
      { highWaterMark: highWater, size: (chunk) => chunk?.byteLength ?? 0 },
    );
    stop.signal.addEventListener('abort', () => this.#wake?.());
  }

  /** Does nothing after the reader has left or the stream has ended. */
  write(bytes: Uint8Array): void {
    this.#controller?.enqueue(bytes);
  }

  /** Resolves when there is room, or the watch must end. */
  async drained(): Promise<void> {
    if ((this.#controller?.desiredSize ?? 1) > 0 || this.#stop.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const tooSlow = setTimeout(() => this.#stop.abort(), stalledReaderMs);
      this.#wake = () => {
        clearTimeout(tooSlow);
        this.#wake = undefined;
        resolve();
      };
    });
  }

  /** Lines written before are still delivered. */
  end(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }
}
