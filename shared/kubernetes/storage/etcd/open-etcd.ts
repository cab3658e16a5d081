import { ArcError } from '#shared/base/errors';
import { createMetrics, type Metrics } from '#shared/base/telemetry';
import { connect } from './connect.ts';
import { checkEndpoints, type EtcdTls } from './endpoints.ts';
import { EtcdStore, type RenewableStore } from './etcd-store.ts';
import { Keyspace } from './keyspace.ts';
import { requestMetrics } from './request-metrics.ts';
import { readShift, ShiftedStore, shiftKey } from './shifted-revisions.ts';
import type { EtcdWire } from './wire.ts';

export interface EtcdStoreOptions {
  /** URLs of the members, all http or all https: `https://etcd-0.etcd:2379`. */
  endpoints: string[];
  tls?: EtcdTls;
  /** Put before every key, for a part of an etcd that others use too; default none. */
  prefix?: string;
  /** Gives up opening. */
  signal?: AbortSignal;
  /** ms for one read with its repetitions, or for one write; default 10,000. */
  requestTimeout?: number;
  /** ms for a whole list; default 60,000. */
  listTimeout?: number;
  /** ms between progress batches to a watch that has no events of its own; default 5,000. */
  progressInterval?: number;
  /**
   * ms; history is kept for one to two of these; default 300,000. 0: another program compacts. Compaction is for the
   * whole of etcd, whatever the prefix.
   */
  compactionInterval?: number;
  /** Receives compactions that failed; they are tried again one interval later. Default: a process warning. */
  onBackgroundError?: (error: ArcError) => void;
  /** Where calls to etcd are counted. */
  metrics?: Metrics;
}

/**
 * Opens a store in etcd 3.5.13 or newer (3.4.31 in that line; older ones answer progress questions wrongly). Resolves
 * once etcd answers; rejects with ServiceUnavailable or Timeout if it does not within `requestTimeout`, and with
 * BadRequest for endpoints that cannot be.
 */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<RenewableStore> {
  const { endpoints, tls } = options;
  checkEndpoints(endpoints, tls);
  const store = makeStore(await connect(endpoints, tls), options);
  try {
    const { shift } = await readShift(store, options.signal);
    return shift === 0 ? store : new ShiftedStore(store, shift);
  } catch (caught) {
    await store.close();
    throw caught;
  }
}

/**
 * Makes the revisions of a store go on beyond `revision`, for every process that opens it from now on. No process may have it open
 * meanwhile. The revisions never go back.
 */
export async function raiseEtcdRevision(options: EtcdStoreOptions, revision: number): Promise<void> {
  const { endpoints, tls } = options;
  checkEndpoints(endpoints, tls);
  const store = makeStore(await connect(endpoints, tls), { ...options, compactionInterval: 0 });
  try {
    const { shift, item } = await readShift(store, options.signal);
    const newest = await store.revision();
    if (newest + shift > revision) return;
    const value = Buffer.from(String(revision - newest));
    const { ok } = item
      ? await store.update(shiftKey, value, item.revision)
      : await store.create(shiftKey, value);
    if (!ok) throw new ArcError('Conflict', 'another restore of this store runs');
  } finally {
    await store.close();
  }
}

/** The store over whatever makes the calls. */
export function makeStore(wire: EtcdWire, options: Omit<EtcdStoreOptions, 'endpoints'>): EtcdStore {
  return new EtcdStore({
    wire,
    keyspace: new Keyspace(options.prefix ?? ''),
    requestTimeout: options.requestTimeout ?? 10_000,
    listTimeout: options.listTimeout ?? 60_000,
    progressInterval: options.progressInterval ?? 5_000,
    compactionInterval: options.compactionInterval ?? 300_000,
    onBackgroundError:
      options.onBackgroundError ?? ((error) => process.emitWarning(`etcd compaction: ${error.message}`)),
    observe: requestMetrics(options.metrics ?? createMetrics()),
  });
}
