import { constants, type ServerHttp2Session, type ServerHttp2Stream, type ServerOptions } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { isProxy } from '../http/connection.ts';
import { idleTimeoutMs, stallTimeoutMs } from './connection-limits.ts';

const kibibyte = 1024;

/**
 * What a connection may ask of the HTTP/2 library. It refuses more than eight CONTINUATION frames, floods of frames that are answered
 * while the peer reads nothing, and DATA frames without data, and it ends the connection of such a peer.
 */
export const sessionOptions: ServerOptions = {
  settings: {
    enablePush: false,
    maxConcurrentStreams: 250,
    // A proxy that knows this refuses larger ones itself. A single header above 64 KiB would end the connection, and with it the requests
    // of all its users.
    maxHeaderListSize: 64 * kibibyte,
  },
  // Every header counts for 32 bytes more than it has.
  maxHeaderListPairs: 2_000,
  // Megabytes: every stream of a proxy may wait for its reader with a full buffer.
  maxSessionMemory: 256,
  // Counted by boundSession instead, which knows a proxy.
  streamResetBurst: 0xffffffff,
  streamResetRate: 0xffffffff,
  // Of streams in a row, beyond `maxConcurrentStreams`: a stream that was reset counts for as long as this process knows it.
  maxSessionRejectedStreams: 10_000,
};

/**
 * Bytes of the headers of all requests in progress on one connection: an HTTP/1.1 connection, which carries one request at a time, holds as
 * much.
 */
const maxHeaderBytes = 256 * kibibyte;

/**
 * Streams of a front proxy. A proxy with more watches opens another connection, and keeps this one full: Node refuses a stream that is opened
 * while it has yet to notice that another one was reset.
 */
const maxProxyStreams = 1_000;

/** Streams that a client may reset at once, and per second: to open and reset a stream costs it nothing (CVE-2023-44487). */
const resetBurst = 500;
const resetsPerSecond = 50;

/** In milliseconds. */
export interface Patience {
  /** For a client that takes nothing of a response. */
  stallMs: number;
  /** For a connection without requests. */
  idleMs: number;
  /** For the first request of a connection. */
  firstRequestMs: number;
}

export const defaultPatience: Patience = {
  stallMs: stallTimeoutMs,
  idleMs: idleTimeoutMs,
  firstRequestMs: 20_000,
};

/** Milliseconds that a connection stays open to deliver why it ended. */
const lingerMs = 1_000;

/**
 * Counts a stream until it closes. Returns false for a stream that must not be answered: its client has reset it, or it was refused.
 */
export type Admit = (stream: ServerHttp2Stream, rawHeaders: readonly string[]) => boolean;

interface OpenStream {
  headerBytes: number;
  /** When the client had last taken what was written. */
  takenAt: number;
}

/**
 * Bounds what one connection holds. A stream whose client takes nothing of its response for a while is reset, and a connection
 * without streams is closed. The connection of a front proxy carries the requests of many users, of which one must not end those of
 * the others: neither its resets nor its headers are counted.
 */
export function boundSession(
  session: ServerHttp2Session,
  socket: TLSSocket,
  { stallMs, idleMs, firstRequestMs }: Patience,
): Admit {
  const open = new Map<ServerHttp2Stream, OpenStream>();
  let headerBytes = 0;
  let resets = 0;
  let countedAt = performance.now();
  let idleSince = countedAt;
  let mayIdleMs = firstRequestMs;
  let isWide = false;
  let isEnding = false;

  /** Tells the client why, and closes the connection when it may have read that. */
  const end = (code: number) => {
    if (isEnding) return;
    isEnding = true;
    if (!session.destroyed) session.goaway(code);
    for (const stream of open.keys()) stream.close(code);
    setTimeout(() => socket.destroy(), lingerMs);
  };

  const countReset = () => {
    if (isProxy(socket)) return;
    const now = performance.now();
    resets = Math.max(0, resets - ((now - countedAt) / 1000) * resetsPerSecond) + 1;
    countedAt = now;
    if (resets > resetBurst) end(constants.NGHTTP2_ENHANCE_YOUR_CALM);
  };

  const leave = (stream: ServerHttp2Stream) => {
    headerBytes -= open.get(stream)?.headerBytes ?? 0;
    open.delete(stream);
    if (open.size === 0) idleSince = performance.now();
    if (stream.rstCode !== constants.NGHTTP2_NO_ERROR) countReset();
  };

  const lookAround = setInterval(() => {
    const now = performance.now();
    // Node leaves the connection of a session that failed to a client that may never read the rest.
    const isOver = session.destroyed || now - idleSince >= mayIdleMs;
    if (open.size === 0 && isOver) end(constants.NGHTTP2_NO_ERROR);
    for (const [stream, seen] of open) {
      if (stream.bufferSize === 0) seen.takenAt = now;
      else if (now - seen.takenAt >= stallMs) stream.close(constants.NGHTTP2_CANCEL);
    }
  }, stallMs / 4).unref();
  socket.once('close', () => clearInterval(lookAround));

  return (stream, rawHeaders) => {
    const bytes = isProxy(socket) ? 0 : bytesOf(rawHeaders);
    if (isProxy(socket) && !isWide && !session.destroyed) {
      isWide = true;
      session.settings({ maxConcurrentStreams: maxProxyStreams });
    }
    const seen = { headerBytes: bytes, takenAt: performance.now() };
    open.set(stream, seen);
    headerBytes += bytes;
    mayIdleMs = idleMs;
    stream.on('drain', () => {
      seen.takenAt = performance.now();
    });
    // `close` follows.
    stream.on('error', () => undefined);
    stream.once('close', () => leave(stream));
    if (stream.closed) return false;
    if (headerBytes <= maxHeaderBytes) return true;
    stream.close(constants.NGHTTP2_REFUSED_STREAM);
    return false;
  };
}

function bytesOf(rawHeaders: readonly string[]): number {
  let bytes = 0;
  for (const text of rawHeaders) bytes += text.length;
  return bytes;
}
