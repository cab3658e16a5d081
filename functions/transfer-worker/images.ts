import type { Job } from '#shared/domain';
import { formatReference, parseImageName, TransferError } from '#shared/transfer';

/** Which image to read and where to write it, both relative to their Endpoints. */
export interface Images {
  source: string;
  destination: string;
}

/**
 * The images of an OCI artifact: `spec.image` is the source, `spec.override` the destination. An override without tag and digest takes
 * those of the source. Throws a config TransferError.
 */
export function imagesOf({ artifact }: Job): Images {
  const { image, override } = artifact.spec;
  if (typeof image !== 'string' || image === '') {
    throw new TransferError(
      'config',
      `Artifact type "${artifact.type}" is copied as an OCI image, so spec.image must be a string such as "team/app:1.0".`,
    );
  }
  const source = parseImageName(image);
  if (override === undefined || override === '')
    return { source: image, destination: formatReference(source) };
  if (typeof override !== 'string')
    throw new TransferError('config', 'spec.override must be a string such as "mirror/app:1.0".');
  const destination = parseImageName(override);
  const named = destination.tag !== undefined || destination.digest !== undefined;
  const { repository: _, ...version } = source;
  return {
    source: image,
    destination: formatReference(named ? destination : { ...version, ...destination }),
  };
}
