import { type Registry, seedImage } from '#shared/local';
import { registryURL, resolveDigest } from '#shared/transfer';
import type { DemoArtifact, RegistryAccess } from './objects.ts';

/** What must be at the destination afterwards. */
export interface Arrival {
  repository: string;
  tag: string;
  /** What the source serves; of a chart and a file, which are the first layer of their artifact, of that. */
  digest: string;
  of: 'artifact' | 'layer';
  /** How many referrers must have come along. */
  referrers: number;
}

/** An artifact of the Order with what must come of it; nothing, if it is to be refused. */
export interface SourcedArtifact extends DemoArtifact {
  arrivals: Arrival[];
}

/** What the demo copies from a registry. */
export interface Sourced {
  access: RegistryAccess;
  description: string;
  artifacts: SourcedArtifact[];
}

/** Asks to take an image from where images may only be brought to: no waiting mends that. */
const wrong: SourcedArtifact = {
  name: 'wrong',
  type: 'oci',
  source: 'destination',
  spec: { image: 'team/app:1.0', override: 'mirror/wrong:1.0' },
  arrivals: [],
};

const platforms = ['linux/amd64', 'linux/arm64'];
const mebibyte = 1024 * 1024;

/** Fills a registry with two images of two platforms each, the first of them signed. */
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
    // The wrong one stands between the others: it must hold nothing up.
    artifacts: [
      imageArtifact('app', 'team/app:1.0', app.digest, 1),
      wrong,
      imageArtifact('tools', 'team/tools:2.3', tools.digest, 0),
    ],
  };
}

/** One image of a registry of the user's own, read anonymously. */
export async function sourceOutside(reference: string, signal: AbortSignal): Promise<Sourced> {
  const at = reference.indexOf('/');
  const url = registryURL(reference.slice(0, at));
  const image = reference.slice(at + 1);
  const digest = await resolveDigest({ remoteURL: url, image }, signal);
  return {
    access: { url },
    description: `${image} as it is there now`,
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
