import { fileURLToPath } from 'node:url';
import type { Job, JobEndpoint } from '#shared/domain';
import {
  formatReference,
  type ImageName,
  type LayoutName,
  layoutSink,
  layoutSource,
  parseImageName,
  TransferError,
} from '#shared/transfer';
import type { EndpointKind } from './endpoint-kind.ts';
import { selected, wantedImage } from './oci.ts';

/**
 * An OCI image layout in a folder, which `remoteURL` names as `file:///path`. `spec.image` and `spec.override` are names of entries in its
 * index.json, which are text of any form: an image keeps the whole name that it had in a registry.
 */
export const ociLayout: EndpointKind = {
  async source({ artifact, endpoint, session }) {
    // Without it, the only artifact that is there.
    const image = artifact.spec.image === undefined ? '' : wantedImage(artifact);
    const source = layoutSource({ folder: folderOf(endpoint), ...entry(image) });
    return selected({ source, name: nameOf(image) }, artifact, session);
  },
  async sink({ artifact, endpoint }, name) {
    return layoutSink({ folder: folderOf(endpoint), ...landingEntry(artifact, name) });
  },
};

function landingEntry(
  { spec: { override } }: Job['artifact'],
  name: ImageName,
): Pick<LayoutName, 'tag' | 'digest'> {
  if (override === undefined || override === '') return entry(formatReference(name));
  if (typeof override !== 'string')
    throw new TransferError('config', 'spec.override must be a string such as "mirror/app:1.0".');
  return entry(override);
}

function entry(text: string): Pick<LayoutName, 'tag' | 'digest'> {
  const [tag = '', digest] = text.split('@');
  return { ...(tag !== '' && { tag }), ...(digest !== undefined && { digest }) };
}

/** What an entry is called elsewhere. A word alone is a tag, as the specification has it; the destination has to name the repository. */
function nameOf(image: string): ImageName {
  const { tag = '', digest } = entry(image);
  if (/[/:]/.test(tag)) return parseImageName(image);
  return { repository: '', ...(tag !== '' && { tag }), ...(digest !== undefined && { digest }) };
}

function folderOf({ name, remoteURL }: JobEndpoint): string {
  try {
    return fileURLToPath(remoteURL);
  } catch {
    const text = `remoteURL of Endpoint "${name}" is "${remoteURL}": an OCI layout is a folder, such as file:///var/lib/layouts/app.`;
    throw new TransferError('config', text);
  }
}
