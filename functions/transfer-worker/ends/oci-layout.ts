import { fileURLToPath } from 'node:url';
import type { JobEndpoint } from '#shared/domain';
import { layoutEntry } from '#shared/domain/address';
import { entryName, landingEntry, layoutSink, layoutSource, TransferError } from '#shared/transfer';
import type { EndpointKind } from './endpoint-kind.ts';
import { selected, wantedImage } from './oci.ts';

/**
 * An OCI image layout in a folder, with `remoteURL` as `file:///path`. `spec.image` and `spec.override` are names of entries in index.json, which
 * may be any text: an image keeps the full name that it had in a registry.
 */
export const ociLayout: EndpointKind = {
  async source({ artifact, endpoint, session }) {
    // Without a name, the only artifact.
    const image = artifact.spec.image === undefined ? '' : wantedImage(artifact);
    const source = layoutSource({ folder: folderOf(endpoint), ...layoutEntry(image) });
    return selected({ source, name: entryName(image) }, artifact, session);
  },
  async sink({ artifact, endpoint }, name) {
    return layoutSink({ folder: folderOf(endpoint), ...landingEntry(artifact.spec.override, name) });
  },
};

function folderOf({ name, remoteURL }: JobEndpoint): string {
  try {
    return fileURLToPath(remoteURL);
  } catch {
    const text = `remoteURL of Endpoint "${name}" is "${remoteURL}": an OCI layout is a folder, such as file:///var/lib/layouts/app.`;
    throw new TransferError('config', text);
  }
}
