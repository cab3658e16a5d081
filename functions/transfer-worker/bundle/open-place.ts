import type { JobEndpoint } from '#shared/domain';
import { type BundleOptions, type BundlePlace, folderPlace } from './bundle-place.ts';
import { isServer, serverPlace } from './server-place.ts';

/** Opens the location of an Endpoint's bundles: a folder of the volume, or a server. `use` identifies the job there. Rejects with a TransferError. */
export function openPlace(endpoint: JobEndpoint, use: string, options: BundleOptions): Promise<BundlePlace> {
  return isServer(endpoint) ? serverPlace(endpoint, use, options) : folderPlace(endpoint, options.bundleDir);
}
