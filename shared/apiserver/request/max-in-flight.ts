import { ArcError } from '#shared/errors';

/** Watches are long-running and do not count against the limits. */
export type RequestKind = 'readOnly' | 'mutating' | 'longRunning';

export interface Limits {
  /** Requests in flight at a time; further ones are refused with 429. */
  readOnly: number;
  mutating: number;
}

/** The requests in flight. */
export interface RequestsInFlight {
  /** Counts a request until the returned function is called. Throws TooManyRequests above the limit unless `exempt`. */
  begin(kind: RequestKind, exempt: boolean): () => void;
  readonly running: Readonly<Record<RequestKind, number>>;
  /** Resolves when no request is in flight. */
  idle(): Promise<void>;
}

/** The limits of kube-apiserver: --max-requests-inflight and --max-mutating-requests-inflight. */
export const defaultLimits: Limits = { readOnly: 400, mutating: 200 };

export function limitRequestsInFlight(limits: Limits): RequestsInFlight {
  const running = { readOnly: 0, mutating: 0, longRunning: 0 };
  const waiting = new Set<() => void>();
  const isIdle = () => running.readOnly + running.mutating + running.longRunning === 0;
  return {
    running,
    begin(kind, exempt) {
      if (kind !== 'longRunning' && !exempt && running[kind] >= limits[kind]) {
        throw new ArcError('TooManyRequests', 'Too many requests, please try again later.', {
          details: { retryAfterSeconds: 1 },
        });
      }
      running[kind] += 1;
      let isOver = false;
      return () => {
        if (isOver) return;
        isOver = true;
        running[kind] -= 1;
        if (!isIdle()) return;
        for (const resolve of waiting) resolve();
        waiting.clear();
      };
    },
    idle: () => (isIdle() ? Promise.resolve() : new Promise((resolve) => waiting.add(resolve))),
  };
}

/** The limit that applies to a verb. */
export function requestKindOf(verb: string): RequestKind {
  if (verb === 'watch') return 'longRunning';
  return ['get', 'list', 'head'].includes(verb) ? 'readOnly' : 'mutating';
}
