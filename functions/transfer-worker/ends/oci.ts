import type { Job, JobEndpoint } from '#shared/domain';
import {
  formatReference,
  type ImageLocation,
  type ImageName,
  parseImageName,
  parsePlatforms,
  platformSubset,
  registrySink,
  registrySource,
  TransferError,
} from '#shared/transfer';
import type { EndpointKind } from './endpoint-kind.ts';

/** An OCI registry: `spec.image` is what to read, `spec.platforms` which part of an index, `spec.override` where it lands. */
export const oci: EndpointKind = {
  async source({ artifact, endpoint, session }) {
    const { image } = artifact.spec;
    if (typeof image !== 'string' || image === '') {
      throw new TransferError(
        'config',
        `Artifact type "${artifact.type}" is copied as an OCI image, so spec.image must be a string such as "team/app:1.0".`,
      );
    }
    const name = parseImageName(image);
    const source = registrySource(session.open(location(endpoint, image), 'pull'));
    if (artifact.spec.platforms === undefined) return { source, name };
    const platforms = parsePlatforms(artifact.spec.platforms);
    // The part of an index has another digest than the whole.
    const { digest: _, ...rest } = name;
    return { source: platformSubset(source, platforms, session.retry), name: rest };
  },
  async sink({ artifact, endpoint, session }, name) {
    const image = formatReference(landingName(artifact, name));
    return registrySink(session.open(location(endpoint, image), 'pull,push'));
  },
};

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

/** An image at an Endpoint. */
export function location(
  { name, remoteURL, tls, credentials, tokenHosts }: JobEndpoint,
  image: string,
): ImageLocation {
  return {
    name,
    remoteURL,
    image,
    ...(tls && { tls }),
    ...(credentials && { credentials }),
    ...(tokenHosts && { tokenHosts }),
  };
}
