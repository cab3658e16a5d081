import type { JobEndpoint } from '#shared/domain';
import { type BundleOptions, type BundlePlace, folderPlace } from './bundle-place.ts';
import { isServer, serverPlace } from './server-place.ts';

/** Where the bundles of an Endpoint lie: in a folder of the volume, or on a server. `use` says what one job does there. Rejects with a TransferError. */
export function openPlace(endpoint: JobEndpoint, use: string, options: BundleOptions): Promise<BundlePlace> {
  return isServer(endpoint) ? serverPlace(endpoint, use, options) : folderPlace(endpoint, options.bundleDir);
}
