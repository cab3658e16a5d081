import type { Writable } from 'node:stream';

/** Lines for one stream: whoever writes them through the same output never cuts a line of another. */
export interface LineOutput {
  /** Takes whole lines, newlines included. False when they are dropped: the reader is too slow, or has gone. */
  write(lines: string): boolean;
}

/** Bytes that may wait for a slow reader. */
const waitingLimit = 64 * 1024 * 1024;

/** Writes to `stream` without blocking the process, and holds at most 64 MiB for a reader that does not read. */
export function lineOutput(stream: Writable): LineOutput {
  // A reader that has gone (EPIPE) must not end the process; `writable` says so from then on.
  stream.on('error', () => undefined);
  return {
    write(lines) {
      const bytes = Buffer.from(lines);
      if (!stream.writable || stream.writableLength + bytes.byteLength > waitingLimit) return false;
      stream.write(bytes);
      return true;
    },
  };
}
