import type { Kind, Resource } from '#shared/kube';
import { isoMicroseconds } from '#shared/meta';

/** coordination.k8s.io/v1: who leads, and how long that holds after each renewal. */
export interface Lease extends Resource {
  spec?: LeaseSpec;
}

export interface LeaseSpec {
  /** Absent or empty: nobody. */
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
 * What has been seen of a Lease, and when. Whether it has run out is judged by how long *this* process has seen it
 * unchanged, never by the times written in it: clocks of two machines differ (client-go does the same). So a process that has
 * just started waits a whole lease before it takes one over.
 */
export class LeaseSighting {
  #seen = '';
  #since = 0;
  #holder = '';
  #durationMs = 0;

  /** Who holds it as far as is known; empty: nobody. */
  get holder(): string {
    return this.#holder;
  }

  /** @param now ms of a steady clock */
  see({ spec = {} }: Lease, now: number): void {
    const text = JSON.stringify(spec);
    if (text === this.#seen) return;
    this.#seen = text;
    this.#since = now;
    this.#holder = spec.holderIdentity ?? '';
    this.#durationMs = (spec.leaseDurationSeconds ?? 0) * 1000;
  }

  /** True when `identity` may write itself into it. */
  isFree(identity: string, now: number): boolean {
    if (this.#holder === '' || this.#holder === identity) return true;
    return now - this.#since > this.#durationMs;
  }
}

/** The spec with which `identity` takes or renews a Lease that said `before`. */
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

/** The spec that leaves a Lease to whoever comes first. */
export function released(now: Date, before: LeaseSpec): LeaseSpec {
  const { leaseTransitions = 0 } = before;
  return { leaseDurationSeconds: 1, renewTime: isoMicroseconds(now), leaseTransitions };
}
