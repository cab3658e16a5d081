import { TransferError } from '../errors/transfer-error.ts';
import type { ImageAddress } from '../reference/image-address.ts';
import { isRepository } from '../reference/reference.ts';
import { readPages, stringsIn } from './pages.ts';
import type { RegistryClient } from './registry-client.ts';

const namesOfPage = 1000;
/** What registries answer that have no catalog, or none for this account: Docker Hub, GitHub and GitLab among them. */
const withoutCatalog = [401, 403, 404, 405, 501];

/**
 * All repositories of a registry, by `GET /v2/_catalog`: an extension of the distribution project which the OCI specification reserves the
 * name for. Rejects with a TransferError, also where the registry does not have it.
 */
export function listRepositories(
  { origin, host }: Pick<ImageAddress, 'origin' | 'host'>,
  send: RegistryClient,
  signal: AbortSignal,
): Promise<string[]> {
  const list = {
    origin,
    target: `/v2/_catalog?n=${namesOfPage}`,
    expect: [200, ...withoutCatalog],
    activity: 'reading a page',
    what: `repositories in registry ${host}`,
    namesIn({ status, bytes }: { status: number; bytes: Buffer | undefined }) {
      if (status !== 200) throw noCatalog(host, status);
      const names = stringsIn(bytes, 'repositories');
      if (names !== undefined) return names.filter(isRepository);
      throw new TransferError('permanent', `The list of repositories of registry ${host} cannot be read.`);
    },
  };
  return readPages(list, send, signal);
}

function noCatalog(host: string, status: number): TransferError {
  return new TransferError(
    'permanent',
    `Registry ${host} does not tell this account which repositories it has (it answered ${status}): name each repository in an artifact of its own, or have the account granted the catalog.`,
  );
}
