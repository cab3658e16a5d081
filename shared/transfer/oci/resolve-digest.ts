import { TransferError } from '../errors/transfer-error.ts';
import { type ImageLocation, openSession, type SessionOptions } from './session.ts';

/** Where to look; `name` (of the Endpoint) only serves messages. */
export type ResolveRequest = Omit<ImageLocation, 'name'> & { name?: string } & SessionOptions;

/**
 * The digest of what a registry serves for an image now (`latest` without a tag), its manifest read and hashed.
 * Rejects with a TransferError whose message holds no credential.
 */
export async function resolveDigest(request: ResolveRequest, signal: AbortSignal): Promise<string> {
  const session = openSession(request);
  try {
    const repository = session.open({ ...request, name: request.name ?? request.remoteURL }, 'pull');
    const { tag, digest, host, repository: path } = repository.place;
    const reference = digest ?? tag ?? 'latest';
    const manifest = await repository.manifest(reference, signal);
    if (manifest) return manifest.digest;
    throw new TransferError('permanent', `Image ${path}:${reference} is not in registry ${host} (404).`);
  } catch (caught) {
    throw session.explained(caught, signal);
  } finally {
    session.close();
  }
}
