import { randomBytes } from 'node:crypto';
import { type Descriptor, digestOf, openSession, parseManifest, putBlob } from '#shared/transfer';

/** Stores an image of `layers` random layers of `layerBytes` under `name` (`path:tag`) in the registry at `host`. */
export async function storeImage(
  host: string,
  name: string,
  layers: number,
  layerBytes: number,
): Promise<void> {
  const signal = AbortSignal.timeout(600_000);
  const session = openSession();
  try {
    const repository = session.open({ name: 'seed', remoteURL: `http://${host}`, image: name }, 'pull,push');
    const store = async (mediaType: string, bytes: Buffer): Promise<Descriptor> => {
      const descriptor = { mediaType, digest: digestOf(bytes), size: bytes.length };
      await putBlob(repository, descriptor, bytes, session.retry, signal);
      return descriptor;
    };
    const stored: Descriptor[] = [];
    for (let layer = 0; layer < layers; layer += 1)
      stored.push(await store('application/vnd.oci.image.layer.v1.tar', randomBytes(layerBytes)));
    const diffIds = stored.map(({ digest }) => digest);
    const config = {
      os: 'linux',
      architecture: 'amd64',
      config: {},
      rootfs: { type: 'layers', diff_ids: diffIds },
    };
    const manifest = {
      schemaVersion: 2,
      mediaType: 'application/vnd.oci.image.manifest.v1+json',
      config: await store('application/vnd.oci.image.config.v1+json', Buffer.from(JSON.stringify(config))),
      layers: stored,
    };
    const parsed = parseManifest(Buffer.from(JSON.stringify(manifest)), name);
    await repository.putManifest(repository.address.tag ?? 'latest', parsed, signal);
  } finally {
    session.close();
  }
}
