const lineEnd = 10;

/** The line that ends a run on each stream of a process: NUL, the run's mark, and the exit code. */
export interface EndOfRun {
  mark: string;
  /** Receives everything before that line. */
  take: (chunk: Buffer) => void;
  /** Gets the exit code. */
  end: (exitCode: number) => void;
  /** Called if output follows the line. */
  stray: () => void;
}

/** Splits a stream of a process. Holds back only what may be the beginning of the line that ends the run. */
export function untilMark({ mark, take, end, stray }: EndOfRun): (chunk: Buffer) => void {
  const head = Buffer.from(`\0${mark} `);
  let rest = Buffer.alloc(0);
  let isOver = false;
  const pass = (chunk: Buffer) => chunk.length > 0 && take(chunk);
  return (chunk) => {
    if (isOver) return stray();
    const all = Buffer.concat([rest, chunk]);
    const at = all.indexOf(head);
    if (at < 0) {
      const begun = all.indexOf(0, Math.max(0, all.length - head.length + 1));
      const safe = begun < 0 ? all.length : begun;
      pass(all.subarray(0, safe));
      rest = all.subarray(safe);
      return;
    }
    pass(all.subarray(0, at));
    rest = all.subarray(at);
    const last = rest.indexOf(lineEnd);
    if (last < 0) return;
    isOver = true;
    if (rest.length > last + 1) stray();
    end(Number(rest.subarray(head.length, last).toString()));
  };
}
