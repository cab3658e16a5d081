import { type ImageAddress, isRepository } from '#shared/domain/address';
import { TransferError } from '../errors/transfer-error.ts';
import { readPages, stringsIn } from './pages.ts';
import type { RegistryClient } from './registry-client.ts';

const pageSize = 1000;
/** Statuses of registries without a catalog, or without one for this account, such as Docker Hub, GitHub and GitLab. */
const withoutCatalog = [401, 403, 404, 405, 501];

/**
 * Returns all repositories of a registry, by `GET /v2/_catalog`: an extension of the distribution project whose name the OCI specification
 * reserves. Rejects with a TransferError, also if the registry has no catalog.
 */
export function listRepositories(
  { origin, host }: Pick<ImageAddress, 'origin' | 'host'>,
  send: RegistryClient,
  signal: AbortSignal,
): Promise<string[]> {
  const list = {
    origin,
    target: `/v2/_catalog?n=${pageSize}`,
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
    `Registry ${host} does not list its repositories for this account (status ${status}): order each repository by name, or grant the account access to the catalog.`,
  );
}
