import type { ContentSource } from './content.ts';
import type { Descriptor, Manifest } from './manifest.ts';
import type { CopyPlan } from './plan.ts';

/** On the entries of an index that BuildKit adds for its attestations. */
const attestationAnnotation = 'vnd.docker.reference.type';
/** Of the layers of attestations, and the payload type of an envelope around one (in-toto/attestation, "Envelope"). */
export const inTotoType = 'application/vnd.in-toto+json';

/** The name by which users know a place: Docker Hub is served by another host than the one that they write. */
export function placeName({
  registry,
  address,
}: Pick<ContentSource, 'registry' | 'address'>): string | undefined {
  if (registry === undefined) return address?.toLowerCase();
  const { host } = new URL(registry.origin);
  const known = host === 'registry-1.docker.io' ? 'docker.io' : host.replace(/\.(?=:|$)/, '');
  return `${known}/${registry.repository}`.toLowerCase();
}

/** The root and what it lists, by digest; not what refers to it. */
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
 * The images among them, and not what BuildKit attests of these. Whoever makes an index writes its annotations, and what runs an image does not
 * ask for them: an attestation is what holds nothing else, wherever it is listed.
 */
export function imagesOf(plan: CopyPlan): Manifest[] {
  const own = ownManifests(plan);
  const entries = [...own.values()].flatMap(({ children }) => children);
  const listedAsImages = new Set(entries.filter((entry) => !isAttested(entry)).map(({ digest }) => digest));
  return [...own.values()].filter(
    (manifest) =>
      !/index|manifest\.list/.test(manifest.mediaType) &&
      (manifest === plan.root || listedAsImages.has(manifest.digest) || !holdsStatementsAlone(manifest)),
  );
}

function isAttested({ annotations }: Descriptor): boolean {
  return annotations?.[attestationAnnotation] === 'attestation-manifest';
}

/** As BuildKit makes them ("Attestation Storage"). */
function holdsStatementsAlone({ blobs, foreign }: Manifest): boolean {
  const [_config, ...layers] = blobs;
  return foreign.length === 0 && layers.every(({ mediaType }) => mediaType === inTotoType);
}
