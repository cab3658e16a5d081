import { hash, randomBytes } from 'node:crypto';

export interface SessionLimits {
  /** Idle timeout. */
  idleMs: number;
  /** Absolute lifetime. */
  longestMs: number;
  most: number;
  mostPerUser: number;
}

/** The session of a signed-in browser. */
export interface Session<T> {
  /** The username in the cluster. */
  readonly user: string;
  /** CSRF token, required with each change. */
  readonly csrf: string;
  /** Aborted when the session ends. */
  readonly signal: AbortSignal;
  /** The value that `begin` created. */
  readonly value: T;
  /** Marks the session as in use; the returned function ends that use. */
  use(): () => void;
  end(): void;
}

export interface Sessions<T> {
  /** Starts a session and evicts the least recently used sessions above the limits. Returns the ID for the cookie. */
  begin(user: string, make: (session: Omit<Session<T>, 'value'>) => T): string;
  find(id: string): Session<T> | undefined;
  /** Ends expired sessions. */
  sweep(): void;
  endAll(): void;
  readonly size: number;
}

interface Entry<T> extends Session<T> {
  readonly begunMs: number;
  usedMs: number;
  /** Requests in flight: live updates last for hours. */
  uses: number;
}

/** Creates an in-memory session store, keyed by a hash of the session IDs. @param now milliseconds of a monotonic clock */
export function createSessions<T>(
  { idleMs, longestMs, most, mostPerUser }: SessionLimits,
  now: () => number = () => performance.now(),
): Sessions<T> {
  // In order of last use.
  const entries = new Map<string, Entry<T>>();
  const isOver = ({ begunMs, usedMs, uses }: Entry<T>) =>
    now() - begunMs >= longestMs || (uses === 0 && now() - usedMs >= idleMs);
  const endOldest = (some: Iterable<Entry<T>>, allowed: number) => {
    const all = [...some];
    for (const entry of all.slice(0, Math.max(0, all.length - allowed))) entry.end();
  };

  return {
    begin(user, make) {
      const id = randomBytes(32).toString('base64url');
      const key = keyOf(id);
      const ending = new AbortController();
      const touch = () => {
        entry.usedMs = now();
        if (entries.delete(key)) entries.set(key, entry);
      };
      const session = {
        user,
        csrf: randomBytes(32).toString('base64url'),
        signal: ending.signal,
        use() {
          touch();
          entry.uses += 1;
          return () => {
            entry.uses -= 1;
            touch();
          };
        },
        end() {
          entries.delete(key);
          ending.abort();
        },
      };
      const entry: Entry<T> = { ...session, value: make(session), begunMs: now(), usedMs: now(), uses: 0 };
      endOldest(
        entries.values().filter((each) => each.user === user),
        mostPerUser - 1,
      );
      endOldest(entries.values(), most - 1);
      entries.set(key, entry);
      return id;
    },
    find(id) {
      const entry = entries.get(keyOf(id));
      if (entry === undefined || !isOver(entry)) return entry;
      entry.end();
      return undefined;
    },
    sweep() {
      for (const entry of [...entries.values()]) if (isOver(entry)) entry.end();
    },
    endAll() {
      for (const entry of [...entries.values()]) entry.end();
    },
    get size() {
      return entries.size;
    },
  };
}

/** Hashed, so that neither the keys nor the timing of a lookup reveals a session ID. */
function keyOf(id: string): string {
  return hash('sha256', id, 'base64');
}
