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
  /** URLs of the members, all http or all https, such as `https://etcd-0.etcd:2379`. */
  endpoints: string[];
  tls?: EtcdTls;
  /** Prefix of every key, for a shared etcd; default none. */
  prefix?: string;
  /** Aborts opening. */
  signal?: AbortSignal;
  /** Timeout of a read with its retries, or of a write, in milliseconds; default 10,000. */
  requestTimeout?: number;
  /** Timeout of a list in milliseconds; default 60,000. */
  listTimeout?: number;
  /** Interval of progress notifications to a watch without events in milliseconds; default 5,000. */
  progressInterval?: number;
  /**
   * Interval of compaction in milliseconds; default 300,000. History is kept for one to two intervals. 0: compaction is off, because another
   * program compacts. Compaction applies to the whole etcd, regardless of the prefix.
   */
  compactionInterval?: number;
  /** Called when a compaction fails; it is retried after one interval. Default: a process warning. */
  onBackgroundError?: (error: ArcError) => void;
  /** Records calls to etcd. */
  metrics?: Metrics;
}

/**
 * Opens a store in etcd 3.5.13 or newer (or 3.4.31; older releases send wrong progress notifications). Resolves when etcd responds. Rejects
 * with ServiceUnavailable or Timeout if etcd does not respond within `requestTimeout`, and with BadRequest for invalid endpoints.
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
 * Raises the revision of a store above `revision`, for every process that opens it afterwards. No process may have it open. Never lowers
 * the revision.
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
    if (!ok) throw new ArcError('Conflict', 'another restore of this store is running');
  } finally {
    await store.close();
  }
}

/** Creates a store on a wire, which tests replace. */
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
