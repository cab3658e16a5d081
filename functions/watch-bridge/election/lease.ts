import { isoMicroseconds, type KubeObject } from '#shared/base/meta';
import type { Kind } from '#shared/kubernetes/client';

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
 * The last observed state of a Lease, and since when. The Lease has expired when *this* process has seen it unchanged for its duration; the times
 * written in it do not count, because the clocks of two machines differ (client-go does the same). So a new process
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
  observe({ spec = {} }: Pick<Lease, 'spec'>, now: number): void {
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

  /** Returns how long `identity` could have taken the Lease, ms. The holder may take its own Lease at any time. */
  freeFor(identity: string, now: number): number {
    if (this.#holder === identity) return Number.POSITIVE_INFINITY;
    return now - this.#since - (this.#holder === '' ? 0 : this.#durationMs);
  }
}

/** On a Lease, by a replica that leads too few: asks the holder to cede the Lease to that replica. */
const wantedBy = 'arc.opendefense.cloud/wanted-by';

/** True if another replica asks the holder for the Lease. */
export function isWanted({ metadata }: Lease): boolean {
  return metadata.annotations?.[wantedBy] !== undefined;
}

/** Returns the Lease with the request of `identity`. Its times are unchanged, so it expires as if nothing had been written. */
export function wanted(lease: Lease, identity: string): Lease {
  const { annotations, ...metadata } = lease.metadata;
  return { ...lease, metadata: { ...metadata, annotations: { ...annotations, [wantedBy]: identity } } };
}

/** Returns the Lease with another spec, without the request. */
export function written(lease: Lease, spec: LeaseSpec): Lease {
  const { annotations: { [wantedBy]: _wish, ...annotations } = {}, ...metadata } = lease.metadata;
  return { ...lease, metadata: { ...metadata, annotations }, spec };
}

/** Returns the spec with which `identity` takes or renews a Lease whose spec was `before`. */
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

/** Returns the spec of a Lease that anyone may take at once. */
export function released(now: Date, before: LeaseSpec): LeaseSpec {
  const { leaseTransitions = 0 } = before;
  return { leaseDurationSeconds: 1, renewTime: isoMicroseconds(now), leaseTransitions };
}
