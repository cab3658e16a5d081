import type { User } from '../authentication/user/user.ts';
import { bodyLimit } from '../codec/parse-body.ts';
import type { Connection } from '../http/connection.ts';
import { boundBodyBytes } from './body-bytes.ts';
import type { RequestKind } from './in-flight.ts';
import { fairSlots, type RefusalReason, refusals } from './slots.ts';

export interface Limits {
  /** Concurrent requests, like kube-apiserver's --max-requests-inflight and --max-mutating-requests-inflight. */
  readOnly: number;
  mutating: number;
  /** Concurrent watches of a user. */
  watchesPerUser: number;
  /** Users and groups without limits, in addition to the system components of Kubernetes. */
  exempt: readonly string[];
}

/** readOnly and mutating have the defaults of kube-apiserver. */
export const defaultLimits: Limits = { readOnly: 400, mutating: 200, watchesPerUser: 500, exempt: [] };

const mebibyte = 1024 * 1024;
const byteLimits = { body: bodyLimit, flow: 32 * mebibyte, total: 128 * mebibyte };

/** A request's access to the limited resources of its flow. */
export interface FairUse {
  /** Reserves bytes for the body until the request ends. Throws TooManyRequests. */
  reserve(bytes: number): void;
  /** Waits for a slot. Rejects with TooManyRequests. Idempotent. */
  takeSlot(): Promise<void>;
}

/** The part of a request that limits use. */
export interface LimitedRequest {
  connection: Connection | undefined;
  /** Set if the connection exceeds the limit: it closes after the response. */
  closesConnection: boolean;
  onEnd(callback: () => void): void;
}

export interface RequestLimits {
  /** Counts a request until it ends. Throws TooManyRequests if the user has too many requests of that kind in flight. */
  begin(request: LimitedRequest, user: User, kind: RequestKind): FairUse;
  /** For requests without limits. */
  readonly exempt: FairUse;
  readonly waiting: Readonly<Record<'readOnly' | 'mutating', number>>;
}

/**
 * Enforces limits per flow (requests in flight, watches, connections, bytes of bodies) and shares slots fairly between flows. Calls
 * `onRefused` with the limit that a refused request exceeds.
 */
export function limitRequests(limits: Limits, onRefused: (reason: RefusalReason) => void): RequestLimits {
  const refuse = refusals(onRefused);
  const isExempt = exemptUsers(limits.exempt);
  const slots = {
    readOnly: fairSlots(limits.readOnly, refuse),
    mutating: fairSlots(limits.mutating, refuse),
  };
  const bodies = boundBodyBytes(byteLimits, refuse);
  const requests = countPerFlow(Math.max(limits.readOnly, limits.mutating));
  const watches = countPerFlow(limits.watchesPerUser);
  // A client has idle connections in addition to its watches.
  const connections = countPerFlow(2 * limits.watchesPerUser);
  const claimed = new WeakSet<object>();

  /** Counts a connection of the user. Connections of front proxies and unauthenticated ones belong to no single user. */
  const claim = (request: LimitedRequest, connection: Connection, flow: string) => {
    if (connection.isProxy || !connection.isAuthenticated || claimed.has(connection.socket)) return;
    if (connections.isFull(flow)) {
      request.closesConnection = true;
      throw refuse('connections', `this user has ${connections.max} connections`);
    }
    claimed.add(connection.socket);
    connection.socket.once('close', connections.enter(flow));
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
      const flow = flowOf(user);
      if (request.connection) claim(request, request.connection, flow);
      const isWatch = kind === 'longRunning';
      const count = isWatch ? watches : requests;
      if (count.isFull(flow)) {
        if (isWatch) throw refuse('watches', `this user has ${count.max} watches`);
        throw refuse('requests', `this user has ${count.max} requests in flight`);
      }
      request.onEnd(count.enter(flow));
      let hasSlot = isWatch;
      return {
        reserve(bytes) {
          bodies.reserve(flow, bytes);
          request.onEnd(() => bodies.release(flow, bytes));
        },
        async takeSlot() {
          if (hasSlot) return;
          hasSlot = true;
          const slot = slots[kind === 'readOnly' ? 'readOnly' : 'mutating'].enter(flow);
          request.onEnd(slot.leave);
          await slot.ready;
        },
      };
    },
  };
}

/** Counts per flow, up to `max`. */
function countPerFlow(max: number) {
  const counts = new Map<string, number>();
  return {
    max,
    isFull: (flow: string) => (counts.get(flow) ?? 0) >= max,
    /** The returned function must be called exactly once. */
    enter(flow: string): () => void {
      counts.set(flow, (counts.get(flow) ?? 0) + 1);
      return () => {
        const left = (counts.get(flow) ?? 0) - 1;
        if (left > 0) counts.set(flow, left);
        else counts.delete(flow);
      };
    },
  };
}

/**
 * Returns the flow of a user, which is the unit of limits: each user is a flow, and all anonymous requests are one. The ServiceAccounts of
 * a namespace share a flow, because a user who may create one of them may create a thousand.
 */
export function flowOf({ name }: User): string {
  const namespace = /^system:serviceaccount:([^:]+):/.exec(name)?.[1];
  return namespace === undefined ? `user ${name}` : `ServiceAccounts of ${namespace}`;
}

/** Users and groups of the FlowSchemas `exempt`, `system-leader-election` and of kube-system in Kubernetes. */
const systemNames = [
  'system:masters',
  'system:apiserver',
  'system:aggregator',
  'system:kube-aggregator',
  'system:kube-controller-manager',
  'system:kube-scheduler',
  'system:serviceaccounts:kube-system',
];

/** Returns a predicate for exempt users: system components of Kubernetes, and the users and groups in `more`. */
export function exemptUsers(more: readonly string[]): (user: User) => boolean {
  const names = new Set([...systemNames, ...more]);
  return ({ name, groups }) => names.has(name) || groups.some((group) => names.has(group));
}
