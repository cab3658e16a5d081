/** The end of an output, bounded while it is captured. */
export interface Tail {
  push(chunk: Buffer): void;
  /** Returns at most the last 200 lines and 16 KiB, whole lines where possible. */
  text(): string;
}

const byteLimit = 16_384;
const lineLimit = 200;

export function createTail(): Tail {
  let kept: Buffer = Buffer.alloc(0);
  let cut = false;
  return {
    push(chunk) {
      const joined = Buffer.concat([kept, chunk]);
      cut ||= joined.length > byteLimit;
      // Copied: a small slice would keep the whole chunk alive.
      kept = Buffer.from(joined.subarray(Math.max(0, joined.length - byteLimit)));
    },
    text() {
      const lines = kept.toString('utf8').trimEnd().split('\n');
      // The first line is partial if something was cut off before it.
      if (cut && lines.length > 1) lines.shift();
      return lines.slice(-lineLimit).join('\n');
    },
  };
}
