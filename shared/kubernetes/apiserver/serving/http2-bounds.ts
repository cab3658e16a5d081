import { constants, type ServerHttp2Session, type ServerHttp2Stream, type ServerOptions } from 'node:http2';
import type { TLSSocket } from 'node:tls';
import { isProxy } from '../http/connection.ts';
import { idleTimeoutMs, stallTimeoutMs } from './connection-limits.ts';

const kibibyte = 1024;

/**
 * Limits that nghttp2 enforces. By default it also ends connections with more than eight CONTINUATION frames per header block, floods of PING
 * and SETTINGS whose acknowledgements are not read, and empty DATA frames.
 */
export const sessionOptions: ServerOptions = {
  settings: {
    enablePush: false,
    maxConcurrentStreams: 250,
    // Announced, so that a proxy rejects larger headers itself: a single header above 64 KiB ends the connection, and with it the
    // requests of all its users.
    maxHeaderListSize: 64 * kibibyte,
  },
  // HPACK counts 32 bytes of overhead per header.
  maxHeaderListPairs: 2_000,
  // MB: the buffer of every stream of a proxy may be full.
  maxSessionMemory: 256,
  // Counted by boundSession, which exempts proxies.
  streamResetBurst: 0xffffffff,
  streamResetRate: 0xffffffff,
  // Consecutive streams above `maxConcurrentStreams`: a reset stream counts until this process has seen the reset.
  maxSessionRejectedStreams: 10_000,
};

/**
 * Limit of the header bytes of all requests in flight on one connection; an HTTP/1.1 connection may hold as much for its single request.
 */
const maxHeaderBytes = 256 * kibibyte;

/**
 * Concurrent streams of a front proxy, which opens further connections beyond the limit. High, because a proxy keeps a connection at the limit,
 * and Node refuses a new stream until it has processed the reset of an old one.
 */
const maxProxyStreams = 1_000;

/** Rate limit of stream resets per connection: rapid reset (CVE-2023-44487). */
const resetBurst = 500;
const resetsPerSecond = 50;

/** Timeouts in milliseconds. */
export interface Patience {
  /** For a client that reads nothing of a response. */
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

/** Milliseconds for the peer to read the GOAWAY before the socket is destroyed. */
const lingerMs = 1_000;

/**
 * Counts a stream until it closes. Returns false for a stream that must not be processed: it was reset or refused.
 */
export type Admit = (stream: ServerHttp2Stream, rawHeaders: readonly string[]) => boolean;

interface OpenStream {
  headerBytes: number;
  /** Time of the last read progress of the client. */
  takenAt: number;
}

/**
 * Bounds the resources of one connection. A stalled stream is reset, and an idle connection is closed. Resets and header bytes of a front proxy
 * are not counted: its connection carries the requests of many users, and no user may end those of the others.
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

  /** Sends GOAWAY with the reason, then closes the connection. */
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
    // Node keeps the socket of a failed session open until the peer has read everything, which may be never.
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
