import type { ContentSource } from './content.ts';
import type { Descriptor, Manifest } from './manifest.ts';
import type { CopyPlan } from './plan.ts';

/** Annotation of index entries that BuildKit adds for its attestations. */
const attestationAnnotation = 'vnd.docker.reference.type';
/** Media type of attestation layers, and payload type of their envelope (in-toto/attestation, "Envelope"). */
export const inTotoType = 'application/vnd.in-toto+json';

/** The name by which users know a repository: Docker Hub is served by another host than the one in its image names. */
export function placeName({
  registry,
  address,
}: Pick<ContentSource, 'registry' | 'address'>): string | undefined {
  if (registry === undefined) return address?.toLowerCase();
  const { host } = new URL(registry.origin);
  const known = host === 'registry-1.docker.io' ? 'docker.io' : host.replace(/\.(?=:|$)/, '');
  return `${known}/${registry.repository}`.toLowerCase();
}

/** The root and the manifests that it lists, by digest; without referrers. */
export function ownManifests({ root, manifests }: CopyPlan): Map<string, Manifest> {
  const known = new Map(manifests.map((manifest) => [manifest.digest, manifest]));
  const own = new Map<string, Manifest>();
  const visit = (manifest: Manifest | undefined): void => {
    if (manifest === undefined || own.has(manifest.digest)) return;
    own.set(manifest.digest, manifest);
    for (const child of manifest.children) visit(known.get(child.digest));
  };
  visit(root);
  return own;
}

/**
 * The images of the artifact, without BuildKit's attestations. Whoever builds an index controls its annotations, and runtimes ignore them, so
 * only a manifest that holds nothing but statements counts as an attestation.
 */
export function imagesOf(plan: CopyPlan): Manifest[] {
  const own = ownManifests(plan);
  const entries = [...own.values()].flatMap(({ children }) => children);
  const listedAsImages = new Set(entries.filter((entry) => !isAttested(entry)).map(({ digest }) => digest));
  return [...own.values()].filter(
    (manifest) =>
      !/index|manifest\.list/.test(manifest.mediaType) &&
      (manifest === plan.root || listedAsImages.has(manifest.digest) || !holdsOnlyStatements(manifest)),
  );
}

function isAttested({ annotations }: Descriptor): boolean {
  return annotations?.[attestationAnnotation] === 'attestation-manifest';
}

/** The layout of BuildKit's attestations ("Attestation Storage"). */
function holdsOnlyStatements({ blobs, foreign }: Manifest): boolean {
  const [_config, ...layers] = blobs;
  return foreign.length === 0 && layers.every(({ mediaType }) => mediaType === inTotoType);
}
