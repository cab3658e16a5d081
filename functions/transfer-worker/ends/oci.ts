import type { Job } from '#shared/domain';
import {
  formatReference,
  landingName,
  movedName,
  parseImageName,
  parsePlatforms,
  platformSubset,
  registrySink,
  registrySource,
  type Session,
  TransferError,
} from '#shared/transfer';
import { connection, type EndpointKind, type NamedSource } from './endpoint-kind.ts';

/** An OCI registry: reads `spec.image`, restricted to `spec.platforms`, and writes `spec.override`. */
export const oci: EndpointKind = {
  async source({ artifact, endpoint, session }) {
    const image = wantedImage(artifact);
    const source = registrySource(session.repository({ ...connection(endpoint), image }, 'pull'));
    return selected({ source, name: parseImageName(image) }, artifact, session);
  },
  async sink({ artifact, endpoint, session }, name) {
    const image = formatReference(landingName(artifact.spec.override, name));
    return registrySink(session.repository({ ...connection(endpoint), image }, 'pull,push'));
  },
};

/** `spec.image`. Throws a config TransferError unless it is a string. */
export function wantedImage({ type, spec: { image } }: Job['artifact']): string {
  if (typeof image === 'string' && image !== '') return image;
  throw new TransferError(
    'config',
    `Artifact type "${type}" is copied as an OCI image, so spec.image must be a string such as "team/app:1.0".`,
  );
}

/** Restricts an image to `spec.platforms`, if set. */
export function selected(
  { source, name }: NamedSource,
  { spec: { platforms } }: Job['artifact'],
  { retry }: Session,
): NamedSource {
  if (platforms === undefined) return { source, name };
  return {
    source: platformSubset(source, parsePlatforms(platforms), retry),
    name: movedName(name, platforms),
  };
}
