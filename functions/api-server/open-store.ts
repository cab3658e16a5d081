import { createBackoff, pause } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import type { Logger, Metrics } from '#shared/base/telemetry';
import { group } from '#shared/domain';
import { storagePrefix } from '#shared/kubernetes/apiserver';
import {
  type Backup,
  cacheStore,
  type EtcdTls,
  openEmbeddedStore,
  openEtcdStore,
  raiseEtcdRevision,
  restoreEmbeddedStore,
  restoreItems,
  revisionsAhead,
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
  const chosen = await choose(settings);
  if ('folder' in chosen) return openEmbeddedStore(chosen);
  const { files, tls } = chosen;
  const onBackgroundError = (error: ArcError) => log.warn({ err: error }, 'cannot compact etcd');
  const open = () => openEtcdStore({ ...chosen, signal, metrics, onBackgroundError });
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

type Surroundings = Pick<StoreSurroundings, 'log' | 'signal'>;

/** The same store to be read once from end to end: without a cache, and without compacting. */
export async function openToRead(settings: StoreSettings, surroundings: Surroundings): Promise<Store> {
  const chosen = await choose(settings);
  if ('folder' in chosen) return openEmbeddedStore(chosen);
  const { signal } = surroundings;
  return untilReachable(() => openEtcdStore({ ...chosen, compactionInterval: 0, signal }), surroundings);
}

/**
 * Replaces what is in the store by a backup, and makes its revisions go on beyond those of before, so that every watch begins anew. No
 * API server may run. Safe to repeat after an interruption.
 */
export async function restoreStore(
  settings: StoreSettings,
  backup: Backup,
  { log, signal }: Surroundings,
): Promise<void> {
  const chosen = await choose(settings);
  if ('folder' in chosen) {
    const aside = await restoreEmbeddedStore(chosen, backup);
    log.info({ objects: backup.items.length, aside }, 'restored; the former files are kept');
    return;
  }
  const options = { ...chosen, compactionInterval: 0, signal };
  const former = await untilReachable(() => openEtcdStore(options), { log, signal });
  const newest = await former.revision();
  await former.close();
  // Before the first write: a restore that is interrupted leaves no revision that was given before.
  await raiseEtcdRevision(options, Math.max(newest, backup.revision) + revisionsAhead);
  const store = await openEtcdStore(options);
  try {
    log.info({ ...(await restoreItems(store, backup)), revision: await store.revision() }, 'restored');
  } finally {
    await store.close();
  }
}

interface ChosenEtcd {
  endpoints: string[];
  prefix?: string;
  /** The files, and what is in them. */
  files?: EtcdTls;
  tls?: EtcdTls;
}

async function choose(settings: StoreSettings): Promise<ChosenEtcd | { folder: string }> {
  const { ARC_ETCD_ENDPOINTS: endpoints, ARC_ETCD_PREFIX: prefix, ARC_STORE_FOLDER: folder } = settings;
  if (folder !== undefined && endpoints !== undefined)
    throw new ArcError('Invalid', 'ARC_ETCD_ENDPOINTS and ARC_STORE_FOLDER exclude each other: set one');
  if (folder !== undefined) return { folder };
  if (endpoints === undefined)
    throw new ArcError('Invalid', 'no store is configured: set ARC_ETCD_ENDPOINTS or ARC_STORE_FOLDER');
  const files = tlsFiles(settings);
  return {
    endpoints: endpoints.split(',').map((each) => each.trim()),
    ...(prefix !== undefined && { prefix }),
    ...(files && { files, tls: await readPem(files) }),
  };
}

/**
 * Opens a store as soon as it answers: in a new installation the DNS name of etcd does not exist yet when this process starts. Rejects with
 * the last failure after two minutes or when `signal` is aborted, and at once with a failure that a retry cannot change.
 */
export async function untilReachable<T>(
  open: () => Promise<T>,
  { log, signal }: Surroundings,
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
