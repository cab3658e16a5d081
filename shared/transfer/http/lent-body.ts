import type * as http from 'node:http';
import type { Duplex } from 'node:stream';
import { type ByteStream, byteCount } from './body.ts';

/** How much is read at a time. */
const readBytes = 512 * 1024;
/** So many reads wait for their reader at the most. */
const mostWaiting = 2;
/** A body of less is not worth its connection, which is not used again. */
const leastBytes = 16 * 1024 * 1024;

interface Read {
  buffer: Buffer;
  length: number;
}

/** What is read from one connection. */
interface Intake {
  /** True once it is known that the connection reads into our buffers. */
  works: boolean;
  /** Set while a body is lent. False: no more for now. */
  take?: (read: Read) => boolean;
  /** Buffers that may be read into again. */
  spare: Buffer[];
}

const intakes = new WeakMap<Duplex, Intake>();
/** All heads and all other bodies are read into it, and copied from it at once. */
const passing = Buffer.allocUnsafeSlow(64 * 1024);

/** Has the connections of `agent` read into buffers of ours, so that bodies can be lent. Tunnels through a proxy read as before. */
export function lendBodies(agent: http.Agent): void {
  const connect = agent.createConnection.bind(agent);
  agent.createConnection = (options, connected) => {
    const intake: Intake = { works: false, spare: [] };
    const onread = {
      buffer: () =>
        intake.take === undefined ? passing : (intake.spare.pop() ?? Buffer.allocUnsafeSlow(readBytes)),
      callback(length: number, buffer: Buffer) {
        intake.works = true;
        return buffer === passing
          ? socket.push(Buffer.from(buffer.subarray(0, length)))
          : intake.take?.({ buffer, length });
      },
    };
    const reading = { ...options, onread };
    const socket = connect(reading, connected) as Duplex;
    intakes.set(socket, intake);
    return socket;
  };
}

/**
 * The large body of a response that begins, past the parser and the streams of node:http: those allocate and copy each chunk, which
 * costs more than to receive it. A chunk is lent until the next one is asked for. Undefined where the body cannot be lent.
 */
export function lentBody(incoming: http.IncomingMessage): ByteStream | undefined {
  const { socket, headers } = incoming;
  const intake = intakes.get(socket);
  const length = byteCount(headers['content-length']) ?? 0;
  if (!intake?.works || length < leastBytes || headers['transfer-encoding'] !== undefined) return undefined;
  const waiting: Read[] = [];
  let failure: Error | undefined;
  let wake: (() => void) | undefined;
  intake.take = (read) => {
    wake?.();
    return waiting.push(read) < mostWaiting;
  };
  // node:http sees a response that is not read to its end, and says so when the connection ends.
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
        const read = waiting.shift();
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
