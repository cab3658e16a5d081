import type { ArcError } from '#shared/base/errors';
import { createMetrics, type Metrics } from '#shared/base/telemetry';
import type { Store } from '../interface/store.ts';
import { connect } from './connect.ts';
import { checkEndpoints, type EtcdTls } from './endpoints.ts';
import { EtcdStore } from './etcd-store.ts';
import { Keyspace } from './keyspace.ts';
import { requestMetrics } from './request-metrics.ts';
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

/** A store whose connections may change their certificate. */
export interface RenewableStore extends Store {
  /** Connects to etcd with these from now on, without a pause; throws where they do not belong together. */
  renew(tls: EtcdTls): void;
}

/**
 * Opens a store in etcd 3.5.13 or newer (3.4.31 in that line; older ones answer progress questions wrongly). Resolves
 * once etcd answers; rejects with ServiceUnavailable or Timeout if it does not within `requestTimeout`, and with
 * BadRequest for endpoints that cannot be.
 */
export async function openEtcdStore(options: EtcdStoreOptions): Promise<RenewableStore> {
  const { endpoints, tls, signal } = options;
  checkEndpoints(endpoints, tls);
  const store = makeStore(await connect(endpoints, tls), options);
  try {
    await store.revision(signal ? { signal } : {});
    return store;
  } catch (caught) {
    await store.close();
    throw caught;
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
