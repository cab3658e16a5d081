import type { User } from '../authentication/user/user.ts';
import { bodyLimit } from '../codec/parse-body.ts';
import type { Connection } from '../http/connection.ts';
import { boundBodyBytes } from './body-bytes.ts';
import type { RequestKind } from './in-flight.ts';
import { fairSlots, type RefusalReason, refusals } from './slots.ts';

export interface Limits {
  /** Requests that are worked on at a time, reads and writes each. */
  readOnly: number;
  mutating: number;
  /** Watches of one user at a time. */
  watchesPerUser: number;
  /** Users and groups without limits, beside the programs of Kubernetes. */
  exempt: readonly string[];
}

/** The first two as kube-apiserver's --max-requests-inflight and --max-mutating-requests-inflight. */
export const defaultLimits: Limits = { readOnly: 400, mutating: 200, watchesPerUser: 500, exempt: [] };

const mebibyte = 1024 * 1024;
const byteLimits = { body: bodyLimit, party: 32 * mebibyte, total: 128 * mebibyte };

/** What one request may use. */
export interface FairUse {
  /** Reserves bytes for the body until the request is over. Throws TooManyRequests. */
  reserve(bytes: number): void;
  /** Waits until the request may be worked on. Rejects with TooManyRequests. A second call does nothing. */
  takeSlot(): Promise<void>;
}

/** A request, as far as limits need it. */
export interface LimitedRequest {
  connection: Connection | undefined;
  /** Set where the connection is one too many: it closes with the response. */
  closesConnection: boolean;
  onEnd(callback: () => void): void;
}

export interface RequestLimits {
  /** Counts a request of a user until it is over. Throws TooManyRequests when the user has too many of that kind under way. */
  begin(request: LimitedRequest, user: User, kind: RequestKind): FairUse;
  /** For a request without limits. */
  readonly exempt: FairUse;
  readonly waiting: Readonly<Record<'readOnly' | 'mutating', number>>;
}

/**
 * The limits of every party by itself: requests under way, watches, connections, bytes of bodies; and the slots that all share.
 * `onRefused` is told the limit that a refused request met.
 */
export function limitRequests(limits: Limits, onRefused: (reason: RefusalReason) => void): RequestLimits {
  const refuse = refusals(onRefused);
  const isExempt = exemptUsers(limits.exempt);
  const slots = {
    readOnly: fairSlots(limits.readOnly, refuse),
    mutating: fairSlots(limits.mutating, refuse),
  };
  const bodies = boundBodyBytes(byteLimits, refuse);
  const requests = countPerParty(Math.max(limits.readOnly, limits.mutating));
  const watches = countPerParty(limits.watchesPerUser);
  // Beside its watches a client keeps idle connections.
  const connections = countPerParty(2 * limits.watchesPerUser);
  const claimed = new WeakSet<object>();

  /** A proxy's connection carries requests of many users; it counts for none. So do those that no user has shown to be its own. */
  const claim = (request: LimitedRequest, connection: Connection, party: string) => {
    if (connection.isProxy || !connection.isAuthenticated || claimed.has(connection.socket)) return;
    if (connections.isFull(party)) {
      request.closesConnection = true;
      throw refuse('connections', `this user has ${connections.max} connections`);
    }
    claimed.add(connection.socket);
    connection.socket.once('close', connections.enter(party));
  };

  const exempt: FairUse = { reserve: () => undefined, takeSlot: () => Promise.resolve() };
  return {
    exempt,
    waiting: {
      get readOnly() {
        return slots.readOnly.waiting;
      },
      get mutating() {
        return slots.mutating.waiting;
      },
    },
    begin(request, user, kind) {
      if (isExempt(user)) return exempt;
      const party = partyOf(user);
      if (request.connection) claim(request, request.connection, party);
      const isWatch = kind === 'longRunning';
      const count = isWatch ? watches : requests;
      if (count.isFull(party)) {
        if (isWatch) throw refuse('watches', `this user has ${count.max} watches`);
        throw refuse('requests', `this user has ${count.max} requests under way`);
      }
      request.onEnd(count.enter(party));
      let hasSlot = isWatch;
      return {
        reserve(bytes) {
          bodies.reserve(party, bytes);
          request.onEnd(() => bodies.release(party, bytes));
        },
        async takeSlot() {
          if (hasSlot) return;
          hasSlot = true;
          const place = slots[kind === 'readOnly' ? 'readOnly' : 'mutating'].enter(party);
          request.onEnd(place.leave);
          await place.ready;
        },
      };
    },
  };
}

/** Counts something of each party. */
function countPerParty(max: number) {
  const counts = new Map<string, number>();
  return {
    max,
    isFull: (party: string) => (counts.get(party) ?? 0) >= max,
    /** The returned function is called once. */
    enter(party: string): () => void {
      counts.set(party, (counts.get(party) ?? 0) + 1);
      return () => {
        const left = (counts.get(party) ?? 0) - 1;
        if (left > 0) counts.set(party, left);
        else counts.delete(party);
      };
    },
  };
}

/**
 * The party with which a user shares its limits. A user is one by itself; the ServiceAccounts of a namespace are one together,
 * because whoever may create one of them may create a thousand; so are all who are anonymous.
 */
export function partyOf({ name }: User): string {
  const namespace = /^system:serviceaccount:([^:]+):/.exec(name)?.[1];
  return namespace === undefined ? `user ${name}` : `ServiceAccounts of ${namespace}`;
}

/** Users and groups of Kubernetes' own programs, as in its FlowSchemas `exempt`, `system-leader-election` and kube-system's. */
const systemNames = [
  'system:masters',
  'system:apiserver',
  'system:aggregator',
  'system:kube-aggregator',
  'system:kube-controller-manager',
  'system:kube-scheduler',
  'system:serviceaccounts:kube-system',
];

/** Tells who is exempt: the programs of Kubernetes, and the users and groups of `more`. */
export function exemptUsers(more: readonly string[]): (user: User) => boolean {
  const names = new Set([...systemNames, ...more]);
  return ({ name, groups }) => names.has(name) || groups.some((group) => names.has(group));
}
