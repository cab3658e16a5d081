import { createHash } from 'node:crypto';
import { ArcError } from '#shared/errors';

/** Of RFC 6455, section 5.2: those that are sent or answered here. */
export const opcode = { text: 1, close: 8, ping: 9, pong: 10 } as const;

/** What the opening handshake is answered with, given the client's Sec-WebSocket-Key (section 4.2.2). */
export function acceptOf(key: string): string {
  return createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
}

/** One unfragmented frame, unmasked as a server sends them. */
export function frame(code: number, payload: Uint8Array): Buffer {
  return Buffer.concat([head(0x80 | code, payload.byteLength), payload]);
}

function head(first: number, length: number): Buffer {
  if (length < 126) return Buffer.from([first, length]);
  if (length < 65_536) return Buffer.from([first, 126, length >> 8, length & 0xff]);
  const bytes = Buffer.alloc(10);
  bytes.set([first, 127]);
  bytes.writeBigUInt64BE(BigInt(length), 2);
  return bytes;
}

interface Frame {
  code: number;
  /** Where the payload begins, and how long it is. */
  at: number;
  length: number;
  mask: Buffer;
}

/**
 * Reads the frames of a client. Control frames are handed to `control`; data is read past, whatever its length, so that
 * never more than one control frame is held.
 */
export class FrameReader {
  readonly #control: (code: number, payload: Buffer) => void;
  #held = Buffer.alloc(0);
  /** Bytes of data still to read past. */
  #skip = 0;

  constructor(control: (code: number, payload: Buffer) => void) {
    this.#control = control;
  }

  /** Throws Invalid for bytes that are no frame of a client. */
  push(bytes: Buffer): void {
    let rest = this.#held.byteLength > 0 ? Buffer.concat([this.#held, bytes]) : bytes;
    for (;;) {
      const passed = Math.min(this.#skip, rest.byteLength);
      this.#skip -= passed;
      rest = rest.subarray(passed);
      const next = this.#skip > 0 ? undefined : frameOf(rest);
      if (!next) break;
      if (next.code < opcode.close) {
        this.#skip = next.at + next.length;
        continue;
      }
      const end = next.at + next.length;
      if (rest.byteLength < end) break;
      const payload = Buffer.from(rest.subarray(next.at, end));
      for (const [index, byte] of payload.entries()) payload[index] = byte ^ (next.mask[index % 4] ?? 0);
      rest = rest.subarray(end);
      this.#control(next.code, payload);
    }
    this.#held = Buffer.from(rest);
  }
}

/** The frame that begins here; undefined while not all of its head has come. */
function frameOf(bytes: Buffer): Frame | undefined {
  if (bytes.byteLength < 2) return undefined;
  const [first, second] = [bytes.readUInt8(0), bytes.readUInt8(1)];
  const [code, short] = [first & 0x0f, second & 0x7f];
  const isControl = code >= opcode.close;
  if ((first & 0x70) !== 0 || (second & 0x80) === 0 || (isControl && (short > 125 || first < 0x80)))
    throw new ArcError('Invalid', 'not a WebSocket frame of a client');
  const extended = short === 126 ? 2 : short === 127 ? 8 : 0;
  const at = 2 + extended + 4;
  if (bytes.byteLength < at) return undefined;
  const length =
    extended === 0 ? short : extended === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
  return { code, at, length, mask: bytes.subarray(at - 4, at) };
}
