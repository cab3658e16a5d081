import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { type Registry, seedImage } from '#shared/embedded';
import { ArcError } from '#shared/errors';
import { digestOf, resolveDigest } from '#shared/transfer';
import type { DemoArtifact, RegistryAccess } from './objects.ts';

/** What the demo copies from, and what it must find at the destination afterwards. */
export interface Sourced {
  access: RegistryAccess;
  description: string;
  artifacts: DemoArtifact[];
  /** Image as asked for -> digest of what the source serves under it. */
  digests: Map<string, string>;
  /** Image as asked for -> how many referrers must have come along. */
  referrers: Map<string, number>;
}

/** Asks to take an image from where images may only be brought to: no waiting mends that. */
const wrong: DemoArtifact = {
  name: 'wrong',
  type: 'oci',
  image: 'team/app:1.0',
  override: 'mirror/wrong:1.0',
  source: 'destination',
};

const platforms = ['linux/amd64', 'linux/arm64'];
const mebibyte = 1024 * 1024;

/** Fills a registry with two images of two platforms each, the first of them signed. */
export async function seedSource(source: { registry: Registry; access: RegistryAccess }): Promise<Sourced> {
  const images = [
    { name: 'app', image: 'team/app:1.0', signature: true },
    { name: 'tools', image: 'team/tools:2.3', signature: false },
  ];
  const digests = new Map<string, string>();
  const referrers = new Map<string, number>();
  for (const { image, signature } of images) {
    const [repository = '', tag = ''] = image.split(':');
    const seeded = await seedImage(source.registry, repository, tag, {
      platforms,
      layers: 3,
      layerBytes: 3 * mebibyte,
      signature,
    });
    digests.set(image, seeded.digest);
    referrers.set(image, signature ? 1 : 0);
  }
  const [first, ...rest] = images.map(({ name, image }) => ({
    name,
    type: 'oci' as const,
    image,
    override: `mirror/${image}`,
    source: 'source',
  }));
  return {
    access: source.access,
    description: `2 images for ${platforms.join(' and ')} (36 MiB), one of them signed, behind Basic auth`,
    // The wrong one stands between the others: it must hold nothing up.
    artifacts: [...(first ? [first] : []), wrong, ...rest],
    digests,
    referrers,
  };
}

/** Serves one file by HTTP, to be brought into the registry too. */
export async function serveFile(stack: AsyncDisposableStack): Promise<{
  url: string;
  artifact: DemoArtifact;
  digest: string;
}> {
  const bytes = randomBytes(4 * mebibyte);
  const server = http.createServer(({ url }, response) => {
    if (url === '/dist/handbook.pdf')
      response
        .writeHead(200, { 'content-type': 'application/pdf', 'content-length': bytes.length })
        .end(bytes);
    else response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stack.defer(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (address === null || typeof address === 'string')
    throw new ArcError('InternalError', 'the server of the file has no port');
  const artifact: DemoArtifact = {
    name: 'handbook',
    type: 'file',
    image: 'dist/handbook.pdf',
    override: 'mirror/handbook:1.0',
    source: 'downloads',
  };
  return { url: `http://127.0.0.1:${address.port}`, artifact, digest: digestOf(bytes) };
}

/** One image of a registry of the user's own, read anonymously. */
export async function sourceOutside(reference: string, signal: AbortSignal): Promise<Sourced> {
  const at = reference.indexOf('/');
  const url = `${reference.startsWith('127.') || reference.startsWith('localhost') ? 'http' : 'https'}://${reference.slice(0, at)}`;
  const image = reference.slice(at + 1);
  const digest = await resolveDigest({ remoteURL: url, image }, signal);
  return {
    access: { url },
    description: `${image} as it is there now`,
    artifacts: [
      {
        name: 'image',
        type: 'oci',
        image,
        override: `mirror/${image.replace(/@.*$/, '')}`,
        source: 'source',
      },
      wrong,
    ],
    digests: new Map([[image, digest]]),
    referrers: new Map(),
  };
}
