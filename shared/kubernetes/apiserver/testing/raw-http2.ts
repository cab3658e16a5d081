import { once } from 'node:events';
import tls from 'node:tls';

/** Types of frames (RFC 9113, section 6). */
export const frames = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** Flags of frames. */
export const endStream = 0x1;
export const endHeaders = 0x4;
export const ack = 0x1;

export interface Frame {
  type: number;
  flags: number;
  stream: number;
  payload: Buffer;
}

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
const headBytes = 9;

/**
 * An HTTP/2 connection whose frames are written by hand, valid or not. It acknowledges SETTINGS and nothing else, and grants windows only
 * as its caller writes them.
 */
export class RawHttp2 {
  readonly socket: tls.TLSSocket;
  /** Called for every frame that arrives. */
  onFrame: (frame: Frame) => void = () => undefined;
  #rest: Buffer = Buffer.alloc(0);

  constructor(socket: tls.TLSSocket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => this.#take(chunk));
  }

  /** Sends the preface and `settings` (by their number). Resolves when the settings of the server are acknowledged. */
  static async open(
    options: tls.ConnectionOptions,
    settings: Record<number, number> = {},
  ): Promise<RawHttp2> {
    const socket = tls.connect({ ...options, ALPNProtocols: ['h2'] });
    await once(socket, 'secureConnect');
    const connection = new RawHttp2(socket);
    const began = connection.next(({ type, flags }) => type === frames.settings && flags === 0);
    socket.write(Buffer.concat([preface, frame(frames.settings, 0, 0, settingsOf(settings))]));
    await began;
    return connection;
  }

  /** Writes one frame. */
  write(type: number, flags: number, stream: number, payload?: Buffer): boolean {
    return this.socket.write(frame(type, flags, stream, payload));
  }

  /** Resolves with the first frame for which `matches` is true; rejects when the connection closes before. */
  next(matches: (frame: Frame) => boolean): Promise<Frame> {
    return new Promise((resolve, reject) => {
      const before = this.onFrame;
      this.onFrame = (each) => {
        before(each);
        if (matches(each)) resolve(each);
      };
      this.socket.once('close', () => reject(new Error('the connection has closed')));
    });
  }

  #take(chunk: Buffer): void {
    let bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    while (bytes.length >= headBytes) {
      const end = headBytes + bytes.readUIntBE(0, 3);
      if (bytes.length < end) break;
      const [type = 0, flags = 0] = bytes.subarray(3);
      const each = { type, flags, stream: bytes.readUInt32BE(5), payload: bytes.subarray(headBytes, end) };
      bytes = bytes.subarray(end);
      if (type === frames.settings && flags === 0) this.write(frames.settings, ack, 0);
      this.onFrame(each);
    }
    this.#rest = bytes;
  }
}

/** The bytes of one frame. */
export function frame(
  type: number,
  flags: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  const head = Buffer.alloc(headBytes);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A header block of literals, which no table keeps. */
export function headerBlock(headers: readonly (readonly [name: string, value: string])[]): Buffer {
  return Buffer.concat(headers.flatMap(([name, value]) => [Buffer.from([0]), literal(name), literal(value)]));
}

/** The header block of a request. */
export function requestBlock(path: string, headers: Record<string, string> = {}, method = 'GET'): Buffer {
  const pseudo = { ':method': method, ':scheme': 'https', ':authority': 'localhost', ':path': path };
  return headerBlock(Object.entries({ ...pseudo, ...headers }));
}

/** Settings by their numbers. */
function settingsOf(settings: Record<number, number>): Buffer {
  const entries = Object.entries(settings).map(([key, value]) => {
    const entry = Buffer.alloc(6);
    entry.writeUInt16BE(Number(key), 0);
    entry.writeUInt32BE(value, 2);
    return entry;
  });
  return Buffer.concat(entries);
}

/** A 32-bit payload: an error code or a window increment. */
export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** RFC 7541, section 5.2: the length in a prefix of 7 bits, without Huffman coding. */
function literal(text: string): Buffer {
  const bytes = Buffer.from(text);
  if (bytes.length < 127) return Buffer.concat([Buffer.from([bytes.length]), bytes]);
  const length = [127];
  let left = bytes.length - 127;
  for (; left >= 128; left = Math.floor(left / 128)) length.push((left % 128) + 128);
  return Buffer.concat([Buffer.from([...length, left]), bytes]);
}
