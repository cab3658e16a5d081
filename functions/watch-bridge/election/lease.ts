import type { Kind } from '#shared/kube';
import { isoMicroseconds, type KubeObject } from '#shared/meta';

/** A Lease of coordination.k8s.io/v1: its holder, and how long it is valid after each renewal. */
export interface Lease extends KubeObject {
  spec?: LeaseSpec;
}

export interface LeaseSpec {
  /** Absent or empty: not held. */
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
}

export const leases: Kind<Lease> = {
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  plural: 'leases',
  namespaced: true,
};

/**
 * The last observed state of a Lease, and since when. It has expired when *this* process has seen it unchanged for its duration; the times
 * written in it do not count, because clocks of two machines differ (client-go does the same). So a process that has just started
 * waits for a whole lease before it takes over.
 */
export class ObservedLease {
  #spec = '';
  #since = 0;
  #holder = '';
  #durationMs = 0;

  /** The last observed holder; empty: not held. */
  get holder(): string {
    return this.#holder;
  }

  /** @param now ms of a monotonic clock */
  observe({ spec = {} }: Lease, now: number): void {
    const text = JSON.stringify(spec);
    if (text === this.#spec) return;
    this.#spec = text;
    this.#since = now;
    this.#holder = spec.holderIdentity ?? '';
    this.#durationMs = (spec.leaseDurationSeconds ?? 0) * 1000;
  }

  /** True when `identity` may take the Lease. */
  isFree(identity: string, now: number): boolean {
    if (this.#holder === '' || this.#holder === identity) return true;
    return now - this.#since > this.#durationMs;
  }
}

/** The spec with which `identity` takes or renews a Lease whose spec was `before`. */
export function heldBy(identity: string, durationMs: number, now: Date, before: LeaseSpec = {}): LeaseSpec {
  const isRenewal = before.holderIdentity === identity;
  const time = isoMicroseconds(now);
  return {
    holderIdentity: identity,
    leaseDurationSeconds: Math.ceil(durationMs / 1000),
    acquireTime: isRenewal ? (before.acquireTime ?? time) : time,
    renewTime: time,
    leaseTransitions: (before.leaseTransitions ?? 0) + (isRenewal ? 0 : 1),
  };
}

/** The spec of a Lease that anyone may take at once. */
export function released(now: Date, before: LeaseSpec): LeaseSpec {
  const { leaseTransitions = 0 } = before;
  return { leaseDurationSeconds: 1, renewTime: isoMicroseconds(now), leaseTransitions };
}
