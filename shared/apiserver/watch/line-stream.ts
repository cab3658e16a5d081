/** Bytes that may wait for a slow reader before the writer stops reading on. */
const highWater = 1024 * 1024;
/** Milliseconds a reader may take nothing while that much waits for it. */
const patience = 30_000;

/**
 * The body of a watch response. The writer never drops a line: it waits in `drained()` for a slow reader, and a
 * reader that takes nothing for 30 s has its watch ended, so that it lists anew. `stop` is aborted when the reader is gone.
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

  /** Does nothing once the reader has left or the stream has ended. */
  write(bytes: Uint8Array): void {
    this.#controller?.enqueue(bytes);
  }

  /** Resolves when there is room again, or the watch has to end. */
  async drained(): Promise<void> {
    if ((this.#controller?.desiredSize ?? 1) > 0 || this.#stop.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const tooSlow = setTimeout(() => this.#stop.abort(), patience);
      this.#wake = () => {
        clearTimeout(tooSlow);
        this.#wake = undefined;
        resolve();
      };
    });
  }

  /** What was written is still delivered. */
  end(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }
}
