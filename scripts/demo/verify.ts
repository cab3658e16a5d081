import { createHash } from 'node:crypto';
import { ArcError } from '#shared/base/errors';
import type { RegistryAccess } from './objects.ts';

const manifestTypes = [
  'application/vnd.oci.image.index.v1+json',
  'application/vnd.oci.image.manifest.v1+json',
  'application/vnd.docker.distribution.manifest.list.v2+json',
  'application/vnd.docker.distribution.manifest.v2+json',
].join(', ');

interface Descriptor {
  digest: string;
}

interface ManifestBody {
  manifests?: Descriptor[];
  config?: Descriptor;
  layers?: Descriptor[];
}

/**
 * Pulls an image with plain fetch and SHA-256, independent of the code that copied it: the index, its children, every blob and every
 * referrer, each verified against its digest.
 * @returns the digest of the tag, the digests of its layers, and the number of its referrers
 */
export async function pullBack(
  registry: RegistryAccess,
  repository: string,
  tag: string,
  signal: AbortSignal,
): Promise<{ digest: string; layers: string[]; referrers: number }> {
  const headers: Record<string, string> = { accept: manifestTypes };
  if (registry.credentials) {
    const { username, password } = registry.credentials;
    headers.authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
  }

  const read = async (path: string): Promise<Buffer> => {
    const response = await fetch(`${registry.url}/v2/${repository}/${path}`, { headers, signal });
    if (!response.ok)
      throw new ArcError('NotFound', `${registry.url}/v2/${repository}/${path} answered ${response.status}`);
    return Buffer.from(await response.arrayBuffer());
  };
  const checked = async (path: string, digest: string): Promise<Buffer> => {
    const bytes = await read(path);
    if (sha256(bytes) !== digest) throw new ArcError('InternalError', `${path} hashes to ${sha256(bytes)}`);
    return bytes;
  };
  const descend = async (bytes: Buffer): Promise<void> => {
    const body = JSON.parse(bytes.toString('utf8')) as ManifestBody;
    for (const { digest } of body.manifests ?? [])
      await descend(await checked(`manifests/${digest}`, digest));
    for (const { digest } of [...(body.config ? [body.config] : []), ...(body.layers ?? [])])
      await checked(`blobs/${digest}`, digest);
  };

  const root = await read(`manifests/${tag}`);
  const digest = sha256(root);
  await descend(root);
  const referrers = JSON.parse((await read(`referrers/${digest}`)).toString('utf8')) as ManifestBody;
  for (const referrer of referrers.manifests ?? [])
    await descend(await checked(`manifests/${referrer.digest}`, referrer.digest));
  const { layers = [] } = JSON.parse(root.toString('utf8')) as ManifestBody;
  return {
    digest,
    layers: layers.map((layer) => layer.digest),
    referrers: referrers.manifests?.length ?? 0,
  };
}

function sha256(bytes: Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}
