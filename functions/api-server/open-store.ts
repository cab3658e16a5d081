import { storagePrefix } from '#shared/apiserver';
import { createBackoff, pause } from '#shared/async';
import { group } from '#shared/domain';
import { ArcError } from '#shared/errors';
import { cacheStore, type EtcdTls, openEmbeddedStore, openEtcdStore, type Store } from '#shared/storage';
import type { Logger, Metrics } from '#shared/telemetry';
import { followPem, readPem } from './pem-files.ts';

export interface StoreSettings {
  /** URLs of etcd's members, separated by commas. */
  ARC_ETCD_ENDPOINTS?: string | undefined;
  /** Put before every key. */
  ARC_ETCD_PREFIX?: string | undefined;
  /** PEM files: the authority of etcd, and the certificate we show it. */
  ARC_ETCD_CA_FILE?: string | undefined;
  ARC_ETCD_CERT_FILE?: string | undefined;
  ARC_ETCD_KEY_FILE?: string | undefined;
  /** Folder of the store that lives in this process, for one replica. */
  ARC_STORE_FOLDER?: string | undefined;
}

export interface StoreSurroundings {
  log: Logger;
  metrics: Metrics;
  /** Gives up opening, and looking at the files of the certificate. */
  signal: AbortSignal;
}

/**
 * The store that the settings choose: etcd with what is in it kept in memory, or the embedded one, which has that in
 * itself. Rejects with Invalid unless they name exactly one.
 */
export async function openStore(settings: StoreSettings, surroundings: StoreSurroundings): Promise<Store> {
  const { log, metrics, signal } = surroundings;
  const { ARC_ETCD_ENDPOINTS: endpoints, ARC_ETCD_PREFIX: prefix, ARC_STORE_FOLDER: folder } = settings;
  if (folder !== undefined && endpoints !== undefined)
    throw new ArcError('Invalid', 'ARC_ETCD_ENDPOINTS and ARC_STORE_FOLDER exclude each other: set one');
  if (folder !== undefined) return openEmbeddedStore({ folder });
  if (endpoints === undefined)
    throw new ArcError(
      'Invalid',
      'where to keep objects is not said: set ARC_ETCD_ENDPOINTS or ARC_STORE_FOLDER',
    );
  const files = tlsFiles(settings);
  const tls = files && (await readPem(files));
  const open = () =>
    openEtcdStore({
      endpoints: endpoints.split(',').map((each) => each.trim()),
      signal,
      metrics,
      ...(tls && { tls }),
      ...(prefix !== undefined && { prefix }),
      onBackgroundError: (error) => log.warn({ err: error }, 'etcd could not be compacted'),
    });
  const store = await untilReachable(open, surroundings);
  if (files && tls)
    void followPem({
      files,
      current: tls,
      onChange: (next) => {
        store.renew(next);
        log.info('the certificate for etcd has changed');
      },
      onFailure: (error) => log.error({ err: error }, 'the certificate for etcd cannot be renewed'),
      signal,
    });
  return cacheStore(store, {
    prefix: storagePrefix(group),
    metrics,
    onReload: (error) => log.warn({ err: error }, 'the watch cache is loaded anew'),
  });
}

/**
 * Opens a store as soon as it answers: in a new installation etcd has no name yet when this process starts. Rejects with the
 * last failure after two minutes, when `signal` is aborted, and at once with failures that waiting does not mend.
 */
export async function untilReachable<T>(
  open: () => Promise<T>,
  { log, signal }: Pick<StoreSurroundings, 'log' | 'signal'>,
  patienceMs = 120_000,
): Promise<T> {
  const until = performance.now() + patienceMs;
  const backoff = createBackoff({ maxMs: 2_000, random: Math.random });
  for (;;) {
    try {
      return await open();
    } catch (caught) {
      const isPassing = ArcError.is(caught, 'ServiceUnavailable') || ArcError.is(caught, 'Timeout');
      if (!isPassing || signal.aborted || performance.now() > until) throw caught;
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
