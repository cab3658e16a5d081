import { mapBounded } from '#shared/base/async';
import { copyBlob, putBlob, type Repository, type Session } from '#shared/transfer';
import type { Image } from './assemble.ts';

export interface Pushing {
  session: Session;
  /** Destination of the image. */
  destination: Repository;
  /** Source of the base's layers. */
  base: Repository | undefined;
  /** Buffer for large layers. */
  folder: string;
  note: (text: string) => void;
}

const width = 4;

/**
 * Pushes the image under its tag (default `latest`): existing blobs are skipped, base layers in the same registry are mounted, the manifest is
 * written last. Safe to repeat. Rejects with a TransferError.
 */
export async function pushImage(image: Image, pushing: Pushing, signal: AbortSignal): Promise<void> {
  const { session, destination, base, folder, note } = pushing;
  const { retry } = session;
  if (base) {
    const copier = { source: base, destination, folder, retry, onSent: () => undefined };
    await mapBounded(image.baseLayers, width, signal, async (layer, either) => {
      note(`base layer ${layer.digest} ${await copyBlob(copier, layer, either)}`);
    });
  }
  await mapBounded(image.own, width, signal, async ({ descriptor, bytes }, either) => {
    note(`${descriptor.digest} ${await putBlob(destination, descriptor, bytes, retry, either)}`);
  });
  await destination.putManifest(destination.address.tag ?? 'latest', image.manifest, signal);
}
