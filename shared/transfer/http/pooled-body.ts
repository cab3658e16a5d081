import type * as http from 'node:http';
import type { Duplex } from 'node:stream';
import { type ByteStream, byteCount } from './body.ts';

/** Size of one read from a socket. */
const readBytes = 512 * 1024;
/** Reads that may be queued for the consumer. */
const maxQueuedReads = 2;
/** Below this size, a body does not pay for its connection, which cannot be reused. */
const minBodyBytes = 16 * 1024 * 1024;

interface Read {
  buffer: Buffer;
  length: number;
}

/** The reads of one connection. */
interface SocketReads {
  /** True once the socket is known to read into our buffers. */
  active: boolean;
  /** Set while a response body is consumed. Returns false to pause the socket. */
  receive?: (read: Read) => boolean;
  /** Buffers to read into again. */
  spare: Buffer[];
}

const socketReads = new WeakMap<Duplex, SocketReads>();
/** Shared buffer for headers and all other bodies, which are copied from it at once. */
const sharedBuffer = Buffer.allocUnsafeSlow(64 * 1024);

/** Makes the connections of `agent` read into our buffers, so that bodies can reuse them. Tunnels through a proxy read as usual. */
export function reuseReadBuffers(agent: http.Agent): void {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, connected) => {
    const reads: SocketReads = { active: false, spare: [] };
    const onread = {
      buffer: () =>
        reads.receive === undefined ? sharedBuffer : (reads.spare.pop() ?? Buffer.allocUnsafeSlow(readBytes)),
      callback(length: number, buffer: Buffer) {
        reads.active = true;
        return buffer === sharedBuffer
          ? socket.push(Buffer.from(buffer.subarray(0, length)))
          : reads.receive?.({ buffer, length });
      },
    };
    const reading = { ...options, onread };
    const socket = connect(reading, connected) as Duplex;
    socketReads.set(socket, reads);
    return socket;
  };
}

/**
 * Returns the body of a response that has just begun, read past the parser and the streams of node:http, which allocate and copy each
 * chunk at a higher cost than receiving it. A chunk is valid until the next one is requested. Undefined if the body is too small for
 * this, or its connection does not support it.
 */
export function pooledBody(incoming: http.IncomingMessage): ByteStream | undefined {
  const { socket, headers } = incoming;
  const intake = socketReads.get(socket);
  const length = byteCount(headers['content-length']) ?? 0;
  if (!intake?.active || length < minBodyBytes || headers['transfer-encoding'] !== undefined)
    return undefined;
  const queue: Read[] = [];
  let failure: Error | undefined;
  let wake: (() => void) | undefined;
  intake.receive = (read) => {
    wake?.();
    return queue.push(read) < maxQueuedReads;
  };
  // To node:http the response is incomplete, which it reports when the connection closes.
  incoming.on('error', (error) => {
    failure = error;
    wake?.();
  });
  incoming.on('close', () => {
    failure ??= new Error('the connection was closed');
    wake?.();
  });

  async function* chunks(): AsyncGenerator<Buffer> {
    try {
      const first: Buffer | null = incoming.read();
      if (first !== null) yield first;
      for (let left = length - (first?.length ?? 0); left > 0; ) {
        const read = queue.shift();
        if (read !== undefined) {
          yield read.buffer.subarray(0, Math.min(read.length, left));
          left -= read.length;
          intake?.spare.push(read.buffer);
          continue;
        }
        if (failure !== undefined) throw failure;
        socket.resume();
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      incoming.destroy();
    }
  }
  return { [Symbol.asyncIterator]: chunks, destroy: () => void incoming.destroy() };
}
