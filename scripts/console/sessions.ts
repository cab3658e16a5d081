import { hash, randomBytes } from 'node:crypto';

export interface SessionLimits {
  /** Sessions that nobody uses for this long end. */
  idleMs: number;
  /** All end after this time. */
  longestMs: number;
  most: number;
  mostPerUser: number;
}

/** A browser that has signed in. */
export interface Session<T> {
  /** As the cluster knows them. */
  readonly user: string;
  /** Sent back with each change. */
  readonly csrf: string;
  /** Aborted when the session ends. */
  readonly signal: AbortSignal;
  /** What was made for it. */
  readonly value: T;
  /** Counts as used until what this returns is called. */
  use(): () => void;
  end(): void;
}

export interface Sessions<T> {
  /** Begins one, in the place of the one that was unused for longest where there are too many. Returns its id, for the cookie. */
  begin(user: string, make: (session: Omit<Session<T>, 'value'>) => T): string;
  find(id: string): Session<T> | undefined;
  /** Ends those whose time is over. */
  sweep(): void;
  endAll(): void;
  readonly size: number;
}

interface Entry<T> extends Session<T> {
  readonly begunMs: number;
  usedMs: number;
  /** Requests that have not ended: live updates last for hours. */
  uses: number;
}

/** Sessions in memory, under a hash of their ids. @param now milliseconds of a monotonic clock */
export function createSessions<T>(
  { idleMs, longestMs, most, mostPerUser }: SessionLimits,
  now: () => number = () => performance.now(),
): Sessions<T> {
  // The one that was used last comes last.
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

/** Whoever could read the keys could not sign in with them, and the time of a look-up says nothing of an id. */
function keyOf(id: string): string {
  return hash('sha256', id, 'base64');
}
