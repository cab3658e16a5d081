/** Bytes buffered for a slow reader before backpressure applies. */
const highWaterMark = 256 * 1024;
/** Milliseconds after which the watch of a reader that reads nothing ends. */
const stalledReaderMs = 30_000;

/**
 * The body of a watch response, with backpressure: the writer waits in `drained()` for a slow reader, and no line is dropped. Aborts `stop`
 * when the reader leaves or reads nothing for 30 s; the client then relists.
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
      { highWaterMark, size: (chunk) => chunk?.byteLength ?? 0 },
    );
    stop.signal.addEventListener('abort', () => this.#wake?.());
  }

  /** Enqueues bytes; ignored after the reader has left or the stream has ended. */
  write(bytes: Uint8Array): void {
    this.#controller?.enqueue(bytes);
  }

  /** Resolves when the buffer has room, or the watch must end. */
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

  /** Ends the stream after the lines already written. */
  end(): void {
    this.#controller?.close();
    this.#controller = undefined;
  }
}

/**
 * Milliseconds between two flushes. Events in between are batched: encrypting and sending five events costs little more than one, and
 * with 200 watches of a busy collection sending is most of the server's work.
 */
const minFlushInterval = 10;
const maxFlushInterval = 100;
/** Ratio of the interval to the duration of the last flush, so that requests get their share of the event loop. */
const intervalPerFlush = 8;

let pendingFlush: Promise<void> | undefined;
/** Milliseconds for which the last flush blocked the event loop. */
let lastFlushMs = 0;

/** Resolves after 10 to 100 ms, at the same time for all callers. */
export function nextFlush(): Promise<void> {
  pendingFlush ??= new Promise((resolve) => {
    const interval = Math.min(maxFlushInterval, Math.max(minFlushInterval, intervalPerFlush * lastFlushMs));
    setTimeout(() => {
      pendingFlush = undefined;
      const began = performance.now();
      resolve();
      // Runs after the continuations of all callers, which write.
      setImmediate(() => {
        lastFlushMs = performance.now() - began;
      });
    }, interval);
  });
  return pendingFlush;
}
