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

/**
 * Milliseconds between two writes to one watch. Events of this time are sent together: encrypting and sending five events costs
 * little more than one, and with 200 watches of one busy collection it is most of the server's work.
 */
const minInterval = 10;
const maxInterval = 100;
/** The interval is this many times the duration of the last flush, so that requests get their share of the event loop. */
const intervalPerFlush = 8;

let next: Promise<void> | undefined;
/** Milliseconds that the last flush kept the event loop. */
let lastDuration = 0;

/** Resolves within 10 to 100 ms, at the same moment for all callers. A watch that was idle need not wait. */
export function nextFlush(): Promise<void> {
  next ??= new Promise((resolve) => {
    const interval = Math.min(maxInterval, Math.max(minInterval, intervalPerFlush * lastDuration));
    setTimeout(() => {
      next = undefined;
      const began = performance.now();
      resolve();
      // All callers have written before an immediate runs.
      setImmediate(() => {
        lastDuration = performance.now() - began;
      });
    }, interval);
  });
  return next;
}
