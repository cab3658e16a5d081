/** Watches and followed texts are long-running: they occupy no slot. */
export type RequestKind = 'readOnly' | 'mutating' | 'longRunning';

/** Counts requests in flight, queued ones included. */
export interface RequestsInFlight {
  /** Counts a request until the returned function is called. */
  begin(kind: RequestKind): () => void;
  readonly running: Readonly<Record<RequestKind, number>>;
  /** Resolves when no request is in flight. */
  idle(): Promise<void>;
}

export function countRequestsInFlight(): RequestsInFlight {
  const running = { readOnly: 0, mutating: 0, longRunning: 0 };
  const waiting = new Set<() => void>();
  const isIdle = () => running.readOnly + running.mutating + running.longRunning === 0;
  return {
    running,
    begin(kind) {
      running[kind] += 1;
      let hasEnded = false;
      return () => {
        if (hasEnded) return;
        hasEnded = true;
        running[kind] -= 1;
        if (!isIdle()) return;
        for (const resolve of waiting) resolve();
        waiting.clear();
      };
    },
    idle: () => (isIdle() ? Promise.resolve() : new Promise((resolve) => waiting.add(resolve))),
  };
}

const readVerbs = new Set(['get', 'list', 'head', 'options']);

export function requestKindOf(verb: string): RequestKind {
  if (verb === 'watch') return 'longRunning';
  return readVerbs.has(verb) ? 'readOnly' : 'mutating';
}
