import type { IWatchRequest, IWatchResponse } from 'etcd3';
import type { WatchStream } from '../wire.ts';

/** A watch call to the fake. A broken connection loses undelivered messages. */
export class FakeStream implements WatchStream {
  readonly sent: IWatchRequest[] = [];
  readonly #onSend: (request: IWatchRequest) => void;
  readonly #messages: IWatchResponse[] = [];
  #failure: Error | undefined;
  #wake: () => void = () => undefined;

  constructor(onSend: (request: IWatchRequest) => void) {
    this.#onSend = onSend;
  }

  get isOpen(): boolean {
    return this.#failure === undefined;
  }

  send(request: IWatchRequest): void {
    if (!this.isOpen) return;
    this.sent.push(request);
    this.#onSend(request);
  }

  cancel(): void {
    this.fail(new Error('1 CANCELLED: Cancelled on client'));
  }

  push(message: IWatchResponse): void {
    this.#messages.push(message);
    this.#wake();
  }

  /** Breaks the connection and drops undelivered messages. */
  fail(error: Error): void {
    this.#failure ??= error;
    this.#messages.length = 0;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<IWatchResponse> {
    for (;;) {
      const message = this.#messages.shift();
      if (message) yield message;
      else if (this.#failure) throw this.#failure;
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }
}
