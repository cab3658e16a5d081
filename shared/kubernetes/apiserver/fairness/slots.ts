import { ArcError } from '#shared/base/errors';

/** A place in the line for a slot. */
export interface Place {
  /** Resolves when the slot is there. Rejects with TooManyRequests when it does not come in time, or others wait less. */
  ready: Promise<void>;
  /** Gives the slot back, or leaves the line. Safe to call twice. */
  leave(): void;
}

export interface Slots {
  /** Takes a slot for a party, or a place in its line. Throws TooManyRequests when its line is full. */
  enter(party: string): Place;
  readonly running: number;
  readonly waiting: number;
}

/** So many parties must come together before all slots are taken. */
const partiesToFill = 16;
/** How many requests of a party may wait, in shares. */
const sharesInLine = 8;
/** How many requests may wait in all, in limits. */
const limitsInLine = 4;

interface Party {
  running: number;
  line: Set<Waiting>;
}

interface Waiting {
  start(): void;
  refuse(error: ArcError): void;
}

/**
 * `limit` slots, shared fairly as API Priority and Fairness does: a party runs a sixteenth of them at most, further requests wait
 * in its own line, and a free slot goes to the lines by turns. So a party meets its own line only, however long those of others are.
 */
export function fairSlots(limit: number, refuse: Refuse, maxWaitMs = 15_000): Slots {
  const share = Math.ceil(limit / partiesToFill);
  const parties = new Map<string, Party>();
  /** The parties that wait; the first is the next to be served. */
  const turns = new Set<Party>();
  let running = 0;
  let waiting = 0;

  const leaveLine = (party: Party, one: Waiting) => {
    if (!party.line.delete(one)) return;
    waiting -= 1;
    if (party.line.size === 0) turns.delete(party);
  };
  /** At most `partiesToFill` parties have their share and are passed over. */
  const dispatch = () => {
    for (const party of turns) {
      if (running >= limit) return;
      const [next] = party.line;
      if (party.running >= share || !next) continue;
      leaveLine(party, next);
      if (turns.delete(party)) turns.add(party); // its next turn comes after those of the others
      party.running += 1;
      running += 1;
      next.start();
    }
  };
  /** When too many wait in all, the last of the longest line goes. */
  const shorten = () => {
    if (waiting <= limit * limitsInLine) return;
    const longest = [...turns].reduce((a, b) => (b.line.size > a.line.size ? b : a));
    const last = [...longest.line].at(-1);
    last?.refuse(refuse('queue-full', `${waiting} requests wait, most of them of this user`));
  };

  return {
    get running() {
      return running;
    },
    get waiting() {
      return waiting;
    },
    enter(name) {
      const party = parties.get(name) ?? { running: 0, line: new Set() };
      if (party.line.size >= share * sharesInLine)
        throw refuse('queue-full', `${party.line.size} requests of this user wait already`);
      parties.set(name, party);
      const { promise: ready, resolve, reject } = Promise.withResolvers<void>();
      let impatient: NodeJS.Timeout | undefined;
      let state: 'waiting' | 'running' | 'over' = 'waiting';
      const end = () => {
        clearTimeout(impatient);
        state = 'over';
        if (party.running === 0 && party.line.size === 0) parties.delete(name);
      };
      const place: Waiting = {
        start() {
          clearTimeout(impatient);
          state = 'running';
          resolve();
        },
        refuse(error) {
          leaveLine(party, place);
          end();
          reject(error);
        },
      };
      party.line.add(place);
      turns.add(party);
      waiting += 1;
      dispatch();
      if (party.line.has(place)) {
        const late = () =>
          place.refuse(
            refuse('time-out', `the turn of this one did not come in ${maxWaitMs / 1000} seconds`),
          );
        impatient = setTimeout(late, maxWaitMs).unref();
        shorten();
      }
      return {
        ready,
        leave() {
          if (state === 'waiting')
            place.refuse(new ArcError('BadRequest', 'the client left before its turn'));
          if (state !== 'running') return;
          party.running -= 1;
          running -= 1;
          end();
          dispatch();
        },
      };
    },
  };
}

/** The limit that a request met, as the label of a metric; the first two as API Priority and Fairness names them. */
export type RefusalReason = 'queue-full' | 'time-out' | 'requests' | 'watches' | 'connections' | 'body-bytes';

/** Makes the error of a refused request and counts it. `why` tells the user which limit it is. */
export type Refuse = (reason: RefusalReason, why: string) => ArcError;

export function refusals(count: (reason: RefusalReason) => void): Refuse {
  return (reason, why) => {
    count(reason);
    return new ArcError('TooManyRequests', `Too many requests, please try again later: ${why}.`, {
      details: { retryAfterSeconds: 1 },
    });
  };
}
