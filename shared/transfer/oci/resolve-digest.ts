import { TransferError } from '../errors/transfer-error.ts';
import { type ImageLocation, openSession, type SessionOptions } from './session.ts';

/** The image to resolve; `name` (of the Endpoint) is used in messages only. */
export type ResolveRequest = Omit<ImageLocation, 'name'> & { name?: string } & SessionOptions;

/**
 * Returns the digest that an image has now (`latest` without a tag), from the manifest that the registry serves. Rejects with a
 * TransferError whose message contains no credentials.
 */
export async function resolveDigest(request: ResolveRequest, signal: AbortSignal): Promise<string> {
  const session = openSession(request);
  try {
    const repository = session.repository({ ...request, name: request.name ?? request.remoteURL }, 'pull');
    const { tag, digest, host, repository: path } = repository.address;
    const reference = digest ?? tag ?? 'latest';
    const manifest = await repository.manifest(reference, signal);
    if (manifest) return manifest.digest;
    throw new TransferError(
      'permanent',
      `Image ${path}:${reference} does not exist in registry ${host} (404).`,
    );
  } catch (caught) {
    throw session.explain(caught, signal);
  } finally {
    session.close();
  }
}
