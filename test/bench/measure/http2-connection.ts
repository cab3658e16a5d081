import {
  endHeaders,
  endStream,
  type Frame,
  frames,
  RawHttp2,
  requestBlock,
  uint32,
} from '../../../shared/kubernetes/apiserver/testing/raw-http2.ts';
import type { BenchConnection } from './raw-connection.ts';

/** Streams on one connection, as many as Go's clients open before they have read the settings of a server. */
const streamsEach = 100;
const headerTableSize = 1;
const initialWindowSize = 4;
const largestWindow = 2 ** 31 - 1;
/** `:status: 200` of the static table, which a server uses for want of another one. */
const ok = 0x88;

interface Pending {
  resolve(answer: { bytes: number }): void;
  reject(error: Error): void;
  bytes: number;
  onLines?: (lines: number) => void;
  onEnd?: () => void;
}

/** Opens streams of shared HTTP/2 connections, each used like a connection of HTTP/1.1. Looks at no more of an answer than needed. */
export function http2Connections(url: string, ca: string, token: string): () => Promise<BenchConnection> {
  const { hostname, port, host } = new URL(url);
  const headers = { ':authority': host, authorization: `Bearer ${token}`, 'user-agent': 'bench' };
  let shared: { connection: Promise<Multiplexed>; users: number } | undefined;
  return async () => {
    if (!shared || shared.users === streamsEach) {
      const opened = RawHttp2.open(
        { host: hostname, port: Number(port), ca },
        { [headerTableSize]: 0, [initialWindowSize]: largestWindow },
      );
      shared = { connection: opened.then((raw) => new Multiplexed(raw, headers)), users: 0 };
    }
    const mine = shared;
    mine.users++;
    const connection = await mine.connection;
    return {
      send: (method, path, lines, body) => connection.send(method, path, lines, body),
      watch: (path, onLines, onEnd) => connection.watch(path, onLines, onEnd),
      close() {
        if (shared === mine) shared = undefined;
        connection.close();
      },
    };
  };
}

class Multiplexed {
  readonly #raw: RawHttp2;
  readonly #headers: Record<string, string>;
  readonly #pending = new Map<number, Pending>();
  #next = 1;

  constructor(raw: RawHttp2, headers: Record<string, string>) {
    this.#raw = raw;
    this.#headers = headers;
    raw.write(frames.windowUpdate, 0, 0, uint32(largestWindow - 65_535));
    raw.onFrame = (each) => this.#take(each);
    raw.socket.on('close', () => {
      for (const { reject, onEnd } of this.#pending.values()) {
        reject(new Error('the server has closed the connection'));
        onEnd?.();
      }
    });
  }

  send(method: string, path: string, lines = '', body = ''): Promise<{ bytes: number }> {
    return new Promise((resolve, reject) =>
      this.#begin({ method, path, lines, body }, { resolve, reject, bytes: 0 }),
    );
  }

  /** Resolves with the header of the answer. */
  watch(path: string, onLines: (lines: number) => void, onEnd: () => void): Promise<void> {
    return new Promise((resolve, reject) =>
      this.#begin(
        { method: 'GET', path, lines: '', body: '' },
        { resolve: () => resolve(), reject, bytes: 0, onLines, onEnd },
      ),
    );
  }

  close(): void {
    this.#pending.clear();
    this.#raw.socket.destroy();
  }

  #begin(request: { method: string; path: string; lines: string; body: string }, pending: Pending): void {
    const id = this.#next;
    this.#next += 2;
    this.#pending.set(id, pending);
    const more = request.lines
      .split('\r\n')
      .filter(Boolean)
      .map((line) => line.split(': '));
    const own = Object.fromEntries(more.map(([name = '', value = '']) => [name.toLowerCase(), value]));
    const block = requestBlock(request.path, { ...this.#headers, ...own }, request.method);
    this.#raw.write(frames.headers, request.body ? endHeaders : endHeaders | endStream, id, block);
    if (request.body) this.#raw.write(frames.data, endStream, id, Buffer.from(request.body));
  }

  #take({ type, flags, stream, payload }: Frame): void {
    const pending = this.#pending.get(stream);
    if (!pending) return;
    if (type === frames.headers && !isOk(payload)) pending.reject(new Error('the answer is not 200'));
    if (type === frames.headers && pending.onLines) pending.resolve({ bytes: 0 });
    if (type === frames.data) {
      pending.bytes += payload.length;
      if (pending.onLines) this.#count(payload, pending.onLines);
    }
    if (type !== frames.reset && (type === frames.windowUpdate || (flags & endStream) === 0)) return;
    this.#pending.delete(stream);
    pending.resolve({ bytes: pending.bytes });
    pending.onEnd?.();
  }

  #count(chunk: Buffer, onLines: (lines: number) => void): void {
    let lines = 0;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) lines += 1;
    if (lines > 0) onLines(lines);
  }
}

/** A block may begin with new sizes of the table. */
function isOk(block: Buffer): boolean {
  return block.find((byte) => (byte & 0xe0) !== 0x20) === ok;
}
