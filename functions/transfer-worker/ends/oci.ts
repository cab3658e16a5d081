import type { Job } from '#shared/domain';
import {
  formatReference,
  type ImageName,
  parseImageName,
  parsePlatforms,
  platformSubset,
  registrySink,
  registrySource,
  type Session,
  TransferError,
} from '#shared/transfer';
import { connection, type EndpointKind, type NamedSource } from './endpoint-kind.ts';

/** An OCI registry: `spec.image` is what to read, `spec.platforms` which part of an index, `spec.override` where it lands. */
export const oci: EndpointKind = {
  async source({ artifact, endpoint, session }) {
    const image = wantedImage(artifact);
    const source = registrySource(session.open({ ...connection(endpoint), image }, 'pull'));
    return selected({ source, name: parseImageName(image) }, artifact, session);
  },
  async sink({ artifact, endpoint, session }, name) {
    const image = formatReference(landingName(artifact, name));
    return registrySink(session.open({ ...connection(endpoint), image }, 'pull,push'));
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

/** The part of an image for `spec.platforms`, or all of it. */
export function selected(
  { source, name }: NamedSource,
  { spec: { platforms } }: Job['artifact'],
  { retry }: Session,
): NamedSource {
  if (platforms === undefined) return { source, name };
  // The part of an index has another digest than the whole.
  const { digest: _, ...rest } = name;
  return { source: platformSubset(source, parsePlatforms(platforms), retry), name: rest };
}

/**
 * What an artifact is called at a registry: `spec.override`, else `name`. An override without tag and digest takes those of `name`. Throws a
 * config TransferError.
 */
export function landingName({ spec: { override } }: Job['artifact'], name: ImageName): ImageName {
  if (override === undefined || override === '') return name;
  if (typeof override !== 'string')
    throw new TransferError('config', 'spec.override must be a string such as "mirror/app:1.0".');
  const given = parseImageName(override);
  if (given.tag !== undefined || given.digest !== undefined) return given;
  return { ...name, ...given };
}
