import type { Io } from '../core/io.ts';

/** An Io that keeps what is printed. */
export interface QuietIo extends Io {
  readonly printed: string[];
  readonly notes: string[];
}

export function quietIo(over: Partial<Io> = {}): QuietIo {
  const printed: string[] = [];
  const notes: string[] = [];
  return {
    printed,
    notes,
    line: (text = '') => void printed.push(text),
    write: (text) => void printed.push(text),
    note: (text) => void notes.push(text),
    style: (_, text) => text,
    isTerminal: false,
    isInteractive: false,
    ask: async () => '',
    columns: () => 80,
    height: () => 25,
    env: {},
    signal: new AbortController().signal,
    ...over,
  };
}
