import { ArcError } from '#shared/errors';
import { openEmbeddedStore, type Store } from '#shared/storage';

export interface StoreSettings {
  /** Addresses of etcd, separated by commas. */
  ARC_ETCD_ENDPOINTS?: string | undefined;
  /** Folder of the store that lives in this process, for one replica. */
  ARC_STORE_FOLDER?: string | undefined;
}

/** The store that the settings choose. Rejects with Invalid unless they name exactly one. */
export async function openStore(settings: StoreSettings): Promise<Store> {
  const { ARC_ETCD_ENDPOINTS: endpoints, ARC_STORE_FOLDER: folder } = settings;
  if (folder !== undefined && endpoints === undefined) return openEmbeddedStore({ folder });
  if (folder !== undefined)
    throw new ArcError('Invalid', 'ARC_ETCD_ENDPOINTS and ARC_STORE_FOLDER exclude each other: set one');
  if (endpoints !== undefined)
    throw new ArcError(
      'Invalid',
      'ARC_ETCD_ENDPOINTS is set, but this build has no etcd store: set ARC_STORE_FOLDER instead',
    );
  throw new ArcError('Invalid', 'where to keep objects is not said: set ARC_STORE_FOLDER');
}
