import { type CopyOptions, copyArtifact } from '../artifact/copy-artifact.ts';
import type { CopyResult } from '../copy/in-session.ts';
import { registrySink, registrySource } from '../oci/registry-content.ts';
import type { ImageLocation } from '../oci/session.ts';

export interface CopyRequest extends CopyOptions {
  source: ImageLocation;
  destination: ImageLocation;
}

/** Copies one image from registry to registry, as `copyArtifact` does. */
export async function copyImage({ source, destination, ...options }: CopyRequest): Promise<CopyResult> {
  return copyArtifact(options, async ({ session }) => ({
    source: registrySource(session.repository(source, 'pull')),
    destination: registrySink(session.repository(destination, 'pull,push')),
  }));
}
