import { type Clock, steadyClock } from '#shared/base/async';
import type { Shard } from '#shared/domain';
import { type Bridge, type BridgeOptions, startBridge } from './bridge.ts';
import { shardLabels } from './bridge-metrics.ts';
import { type Election, runElection } from './election/election.ts';
import { Share } from './election/share.ts';

export interface ReplicaOptions extends Omit<BridgeOptions, 'shard' | 'maySend'> {
  /** The namespace of the Leases. */
  namespace: string;
  /** Unique to this run of this process. */
  identity: string;
  /** Number of shards. */
  shards: number;
  /** The most shards that this replica leads at once. */
  mostShards?: number | undefined;
  /** A monotonic clock, for the Leases. */
  steadyClock: Clock;
}

export interface Replica {
  /** True when each of its shards has been listed, and every other shard has a known holder or was left to other replicas. */
  ready(): boolean;
  /** ms since the slowest loop last made progress. */
  silentMs(): number;
  /** The indexes of the shards that it leads. */
  leads(): number[];
  /** Resolves after the signal, once every Lease is released; rejects on a programming error. */
  readonly done: Promise<void>;
}

/** Returns the name of a shard's Lease. The number of shards is part of it: old and new shards run side by side during a rollout. */
export function leaseName({ index, of }: Shard): string {
  return of === 1 ? 'watch-bridge' : `watch-bridge-${index}-of-${of}`;
}

/** Competes for every shard, and runs a bridge for each shard that it leads. */
export function runReplica(options: ReplicaOptions): Replica {
  const { namespace, identity, shards, mostShards, steadyClock: clock, metrics, api, log } = options;
  const share = new Share(identity, mostShards);
  const control = new AbortController();
  const signal = AbortSignal.any([options.signal, control.signal]);
  const bridges = new Map<number, Bridge>();

  const stand = (index: number): Election => {
    const shard: Shard = { index, of: shards };
    const election = runElection({
      api,
      lease: { namespace, name: leaseName(shard) },
      identity,
      share,
      clock,
      log: shards === 1 ? log : log.child({ shard: index }),
      signal,
      async lead(term) {
        const bridge = startBridge({ ...options, shard, signal: term.signal, maySend: term.holds });
        bridges.set(index, bridge);
        try {
          await bridge.done;
        } finally {
          bridges.delete(index);
        }
      },
    });
    const labels = shardLabels(shard);
    metrics.gauge(
      { name: 'arc_bridge_leader', help: '1 while this replica leads.', labels: Object.keys(labels) },
      () => (election.role === 'leader' ? 1 : 0),
      labels,
    );
    return election;
  };
  const elections = Array.from({ length: shards }, (_, index) => stand(index));

  const end = async () => {
    try {
      await Promise.all(elections.map(({ done }) => done));
    } finally {
      // A programming error in one shard ends all.
      control.abort();
      await Promise.allSettled(elections.map(({ done }) => done));
    }
  };
  return {
    ready: () => elections.every(({ role }, index) => bridges.get(index)?.ready ?? role === 'standby'),
    silentMs: () =>
      Math.max(
        ...elections.map(({ lastTurn }) => clock.now() - lastTurn),
        ...bridges.values().map((bridge) => steadyClock.now() - bridge.lastTurn()),
      ),
    leads: () => [...bridges.keys()].sort((a, b) => a - b),
    done: end(),
  };
}
