import { type Registry, seedImage } from '#shared/local';
import { registryURL, resolveDigest } from '#shared/transfer';
import type { DemoArtifact, RegistryAccess } from './objects.ts';

/** Expected content at the destination. */
export interface Arrival {
  repository: string;
  tag: string;
  /** Digest at the source; for a chart or a file, that of the first layer of its artifact. */
  digest: string;
  of: 'artifact' | 'layer';
  /** Expected number of referrers. */
  referrers: number;
}

/** An artifact of the Order with its expected result; none if it must be rejected. */
export interface SourcedArtifact extends DemoArtifact {
  arrivals: Arrival[];
}

/** The demo's source registry. */
export interface Sourced {
  access: RegistryAccess;
  description: string;
  artifacts: SourcedArtifact[];
}

/** Uses a push-only Endpoint as source, which is permanently invalid. */
const wrong: SourcedArtifact = {
  name: 'wrong',
  type: 'oci',
  source: 'destination',
  spec: { image: 'team/app:1.0', override: 'mirror/wrong:1.0' },
  arrivals: [],
};

const platforms = ['linux/amd64', 'linux/arm64'];
const mebibyte = 1024 * 1024;

/** Fills a registry with two images of two platforms each; the first is signed. */
export async function seedSource({
  registry,
  access,
}: {
  registry: Registry;
  access: RegistryAccess;
}): Promise<Sourced> {
  const size = { platforms, layers: 3, layerBytes: 3 * mebibyte };
  const app = await seedImage(registry, 'team/app', '1.0', { ...size, signature: true });
  const tools = await seedImage(registry, 'team/tools', '2.3', { ...size, signature: false });
  return {
    access,
    description: `2 images for ${platforms.join(' and ')} (36 MiB), one of them signed, behind Basic auth`,
    // The invalid artifact is in the middle: it must not block the others.
    artifacts: [
      imageArtifact('app', 'team/app:1.0', app.digest, 1),
      wrong,
      imageArtifact('tools', 'team/tools:2.3', tools.digest, 0),
    ],
  };
}

/** Uses an image in the user's own registry, read anonymously. */
export async function sourceOutside(reference: string, signal: AbortSignal): Promise<Sourced> {
  const at = reference.indexOf('/');
  const url = registryURL(reference.slice(0, at));
  const image = reference.slice(at + 1);
  const digest = await resolveDigest({ remoteURL: url, image }, signal);
  return {
    access: { url },
    description: `${image}, current version`,
    artifacts: [imageArtifact('image', image, digest, 0), wrong],
  };
}

function imageArtifact(name: string, image: string, digest: string, referrers: number): SourcedArtifact {
  const override = `mirror/${image.replace(/@.*$/, '')}`;
  const [repository = '', tag = 'latest'] = override.split(':');
  return {
    name,
    type: 'oci',
    source: 'source',
    spec: { image, override },
    arrivals: [{ repository, tag, digest, of: 'artifact', referrers }],
  };
}
