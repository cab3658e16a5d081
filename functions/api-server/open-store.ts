import { createBackoff, pause } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import type { Logger, Metrics } from '#shared/base/telemetry';
import { group } from '#shared/domain';
import { storagePrefix } from '#shared/kubernetes/apiserver';
import {
  cacheStore,
  type EtcdTls,
  openEmbeddedStore,
  openEtcdStore,
  type Store,
} from '#shared/kubernetes/storage';
import { followPem, readPem } from './pem-files.ts';

export interface StoreSettings {
  /** URLs of etcd's members, separated by commas. */
  ARC_ETCD_ENDPOINTS?: string | undefined;
  /** Prefix of every key. */
  ARC_ETCD_PREFIX?: string | undefined;
  /** PEM files: etcd's authority, and our client certificate for it. */
  ARC_ETCD_CA_FILE?: string | undefined;
  ARC_ETCD_CERT_FILE?: string | undefined;
  ARC_ETCD_KEY_FILE?: string | undefined;
  /** Folder of the embedded store, for one replica. */
  ARC_STORE_FOLDER?: string | undefined;
}

export interface StoreSurroundings {
  log: Logger;
  metrics: Metrics;
  /** Ends the attempts to open the store, and the following of certificate files. */
  signal: AbortSignal;
}

/**
 * The store that the settings choose: etcd with a cache in memory, or the embedded store, which has its own. Rejects with Invalid
 * unless they name exactly one.
 */
export async function openStore(settings: StoreSettings, surroundings: StoreSurroundings): Promise<Store> {
  const { log, metrics, signal } = surroundings;
  const { ARC_ETCD_ENDPOINTS: endpoints, ARC_ETCD_PREFIX: prefix, ARC_STORE_FOLDER: folder } = settings;
  if (folder !== undefined && endpoints !== undefined)
    throw new ArcError('Invalid', 'ARC_ETCD_ENDPOINTS and ARC_STORE_FOLDER exclude each other: set one');
  if (folder !== undefined) return openEmbeddedStore({ folder });
  if (endpoints === undefined)
    throw new ArcError('Invalid', 'no store is configured: set ARC_ETCD_ENDPOINTS or ARC_STORE_FOLDER');
  const files = tlsFiles(settings);
  const tls = files && (await readPem(files));
  const open = () =>
    openEtcdStore({
      endpoints: endpoints.split(',').map((each) => each.trim()),
      signal,
      metrics,
      ...(tls && { tls }),
      ...(prefix !== undefined && { prefix }),
      onBackgroundError: (error) => log.warn({ err: error }, 'cannot compact etcd'),
    });
  const store = await untilReachable(open, surroundings);
  if (files && tls)
    void followPem({
      files,
      current: tls,
      onChange: (next) => {
        store.renew(next);
        log.info('using a new client certificate for etcd');
      },
      onFailure: (error) => log.error({ err: error }, 'cannot use the new client certificate for etcd'),
      signal,
    });
  return cacheStore(store, {
    prefix: storagePrefix(group),
    metrics,
    onReload: (error) => log.warn({ err: error }, 'reloading the watch cache'),
  });
}

/**
 * Opens a store as soon as it answers: in a new installation the DNS name of etcd does not exist yet when this process starts. Rejects with
 * the last failure after two minutes or when `signal` is aborted, and at once with a failure that a retry cannot change.
 */
export async function untilReachable<T>(
  open: () => Promise<T>,
  { log, signal }: Pick<StoreSurroundings, 'log' | 'signal'>,
  openTimeoutMs = 120_000,
): Promise<T> {
  const until = performance.now() + openTimeoutMs;
  const backoff = createBackoff({ maxMs: 2_000, random: Math.random });
  for (;;) {
    try {
      return await open();
    } catch (caught) {
      const isTransient = ArcError.is(caught, 'ServiceUnavailable') || ArcError.is(caught, 'Timeout');
      if (!isTransient || signal.aborted || performance.now() > until) throw caught;
      log.warn({ err: caught }, 'etcd does not answer yet');
      await pause(backoff.next(), signal);
    }
  }
}

function tlsFiles(settings: StoreSettings): EtcdTls | undefined {
  const { ARC_ETCD_CA_FILE: ca, ARC_ETCD_CERT_FILE: cert, ARC_ETCD_KEY_FILE: key } = settings;
  if ((cert === undefined) !== (key === undefined))
    throw new ArcError('Invalid', 'ARC_ETCD_CERT_FILE and ARC_ETCD_KEY_FILE belong together: set both');
  if (ca === undefined && cert === undefined) return undefined;
  return {
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(key !== undefined && { key }),
  };
}
