import { TransferError } from '../errors/transfer-error.ts';
import { type Descriptor, type Manifest, maxManifestBytes, ociIndex, parseManifest } from './manifest.ts';

/**
 * The index that lists the referrers of `subject` where nothing else does (distribution specification, "Referrers Tag Schema"): `before` with
 * `more`. Throws a TransferError if it would be too large.
 */
export function referrerList(
  subject: string,
  before: readonly Descriptor[],
  more: readonly Manifest[],
): Manifest {
  const listed = new Set(before.map(({ digest }) => digest));
  const added = more.filter(({ digest }) => !listed.has(digest)).map(({ descriptor }) => descriptor);
  const manifests = [...before, ...added];
  const bytes = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: ociIndex, manifests }));
  if (bytes.length > maxManifestBytes)
    throw new TransferError('permanent', `The list of referrers of ${subject} would be larger than 4 MiB.`);
  return parseManifest(bytes, `list of the referrers of ${subject}`);
}
