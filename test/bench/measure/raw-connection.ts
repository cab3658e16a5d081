import { once } from 'node:events';
import tls from 'node:tls';

export interface RawAnswer {
  code: number;
  /** Of the body; of a chunked one with its framing. */
  bytes: number;
}

/** A client's connection, or a stream of one: one request at a time. */
export interface BenchConnection {
  /** `headers` are lines that end in a line break. Rejects for anything but a 2xx. */
  send(method: string, path: string, headers?: string, body?: string): Promise<unknown>;
  /**
   * Sends a request that does not end, and tells how many lines of its body have come, and when the server ends it
   * after all; resolves with its header.
   */
  watch(path: string, onLines: (lines: number) => void, onEnd: () => void): Promise<void>;
  close(): void;
}

interface Pending {
  resolve(answer: RawAnswer): void;
  reject(error: Error): void;
}

const headEnd = Buffer.from('\r\n\r\n');
const chunkedEnd = Buffer.from('\r\n0\r\n\r\n');

/**
 * One kept-alive HTTP/1.1 connection over TLS, one request at a time, that looks at no more of an answer than its end:
 * on two cores a client that parses would be half of what is measured.
 */
export class RawConnection implements BenchConnection {
  readonly #socket: tls.TLSSocket;
  readonly #fixed: string;
  #pending: Pending | undefined;
  #head: Buffer = Buffer.alloc(0);
  #code = 0;
  #bytes = 0;
  /** Bytes of the body; NaN: chunked; undefined while the header is read. */
  #length: number | undefined;
  /** The end of a chunked body may come in two pieces. */
  #tail: Buffer = Buffer.alloc(0);
  #onLines: ((lines: number) => void) | undefined;
  #onEnd: () => void = () => undefined;

  private constructor(socket: tls.TLSSocket, host: string, token: string) {
    this.#socket = socket;
    this.#fixed = `Host: ${host}\r\nAuthorization: Bearer ${token}\r\nUser-Agent: bench\r\n`;
    socket.setNoDelay(true);
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
    socket.on('error', (error) => this.#pending?.reject(error));
    socket.on('close', () => {
      this.#pending?.reject(new Error('the server has closed the connection'));
      this.#onEnd();
    });
  }

  static async open(url: string, ca: string, token: string): Promise<RawConnection> {
    const { hostname, port, host } = new URL(url);
    const socket = tls.connect({ host: hostname, port: Number(port), ca, ALPNProtocols: ['http/1.1'] });
    await once(socket, 'secureConnect');
    return new RawConnection(socket, host, token);
  }

  async send(method: string, path: string, headers = '', body = ''): Promise<RawAnswer> {
    const answer = this.#next();
    const length = method === 'GET' ? '' : `Content-Length: ${Buffer.byteLength(body)}\r\n`;
    this.#socket.write(`${method} ${path} HTTP/1.1\r\n${this.#fixed}${headers}${length}\r\n${body}`);
    const { code, bytes } = await answer;
    if (code >= 300) throw new Error(`${method} ${path} answered ${code}`);
    return { code, bytes };
  }

  async watch(path: string, onLines: (lines: number) => void, onEnd: () => void): Promise<void> {
    this.#onLines = onLines;
    await this.send('GET', path, 'Connection: close\r\n');
    this.#onEnd = onEnd;
  }

  close(): void {
    this.#pending = undefined;
    this.#onEnd = () => undefined;
    this.#socket.destroy();
  }

  #next(): Promise<RawAnswer> {
    const { promise, resolve, reject } = Promise.withResolvers<RawAnswer>();
    this.#pending = { resolve, reject };
    this.#head = Buffer.alloc(0);
    this.#length = undefined;
    this.#bytes = 0;
    return promise;
  }

  #take(chunk: Buffer): void {
    if (this.#length === undefined) this.#takeHead(chunk);
    else this.#takeBody(chunk);
  }

  #takeHead(chunk: Buffer): void {
    this.#head = this.#head.length === 0 ? chunk : Buffer.concat([this.#head, chunk]);
    const end = this.#head.indexOf(headEnd);
    if (end === -1) return;
    const head = this.#head.toString('latin1', 0, end);
    this.#code = Number(head.slice(9, 12));
    this.#length = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? Number.NaN);
    this.#tail = this.#head.subarray(end + 2, end + 4); // a body of no chunks ends in the header's last line break
    if (this.#onLines) this.#answer();
    this.#takeBody(this.#head.subarray(end + 4));
  }

  #takeBody(chunk: Buffer): void {
    if (this.#onLines) this.#count(chunk, this.#onLines);
    else if (this.#isLast(chunk)) this.#answer();
  }

  #isLast(chunk: Buffer): boolean {
    this.#bytes += chunk.length;
    if (!Number.isNaN(this.#length)) return this.#bytes === this.#length;
    const last = chunk.length < chunkedEnd.length ? Buffer.concat([this.#tail, chunk]) : chunk;
    this.#tail = last.subarray(-chunkedEnd.length);
    return this.#tail.equals(chunkedEnd);
  }

  /** Line breaks of the framing follow a carriage return, which JSON does not hold. */
  #count(chunk: Buffer, onLines: (lines: number) => void): void {
    let lines = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) {
      const before = at > 0 ? chunk[at - 1] : this.#tail.at(-1);
      if (before !== 13) lines += 1;
    }
    this.#tail = chunk.subarray(-1);
    if (lines > 0) onLines(lines);
  }

  #answer(): void {
    const pending = this.#pending;
    this.#pending = undefined;
    pending?.resolve({ code: this.#code, bytes: this.#bytes });
  }
}
