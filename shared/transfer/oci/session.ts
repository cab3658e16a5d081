import type { ImageAddress } from '#shared/domain/address';
import { accountOf } from '../credentials/account.ts';
import { credentialsFor, type EndpointCredentials, secretsOf } from '../credentials/credentials.ts';
import type { RegistryCredentials } from '../credentials/docker-config.ts';
import { resolveAddress, type TlsSettings } from '../reference/address.ts';
import { type ConnectionOptions, type Connections, createConnections } from '../servers/connections.ts';
import { listRepositories } from './catalog.ts';
import { createRegistryClient, type RegistryClient } from './registry-client.ts';
import { createRepository, type Repository } from './repository.ts';

/** An image at an Endpoint. */
export interface ImageLocation {
  /** Name of the Endpoint, for messages. */
  name: string;
  /** `https://host[:port][/prefix]`, `http://...`, or without a scheme. */
  remoteURL: string;
  /** `path[:tag][@digest]` below `remoteURL`. */
  image: string;
  tls?: TlsSettings;
  credentials?: EndpointCredentials;
  /** Hosts of the registry's token service that also receive the credentials (`isTrustedRealm`). */
  tokenHosts?: readonly string[];
  /** Hosts that the registry may redirect to, and that may receive uploads (`createReach`). */
  redirectHosts?: readonly string[];
  /** False for a registry other than the Endpoint's own, which receives no cloud identity. */
  identity?: false;
}

export type SessionOptions = ConnectionOptions;

/** The connections of one transfer, and clients for registries. */
export interface Session extends Connections {
  /** Returns a client for one repository. `actions`: `pull` or `pull,push`. Throws a config TransferError. */
  repository(location: ImageLocation, actions: 'pull' | 'pull,push'): Repository;
  /** The names of the repositories below `remoteURL`, relative to it (`listRepositories`). */
  repositories(location: Omit<ImageLocation, 'image'>, signal: AbortSignal): Promise<string[]>;
}

/** The shared state of a transfer in which both ends are opened. */
export interface TransferContext {
  /** Connections, limits and masked secrets that both ends share. */
  session: Session;
  /** A folder for temporary large files; the copy removes it. */
  folder: string;
  signal: AbortSignal;
}

const foreignRegistry: RegistryCredentials = {
  kind: 'none',
  hint: 'for registries other than its own, it needs a Secret with .dockerconfigjson',
};
/** A placeholder repository, where only the prefix before its name matters. */
const anyName = 'any';

/** Starts a session. Sends nothing until a repository is used. */
export function openSession(options: SessionOptions = {}): Session {
  const connections = createConnections(options);
  const { masker, retry, identities, client, limiter } = connections;
  function credentialsOf(
    { credentials, identity, tls }: Omit<ImageLocation, 'image'>,
    { origin, host, repository }: ImageAddress,
  ): RegistryCredentials {
    if (credentials !== undefined) return credentialsFor(credentials, host, repository);
    return identity === false ? foreignRegistry : identities.registry(origin, tls);
  }
  function connect(
    location: Omit<ImageLocation, 'image'>,
    address: ImageAddress,
    about: { place: string; scope: string },
  ): RegistryClient {
    const credentials = credentialsOf(location, address);
    for (const secret of secretsOf(credentials)) masker.add(secret);
    return createRegistryClient({
      ...about,
      address,
      endpoint: location.name,
      credentials,
      // An identity is sent to no host that only the Endpoint vouches for.
      tokenHosts: credentials.kind === 'cloud' ? [] : (location.tokenHosts ?? []),
      redirectHosts: location.redirectHosts ?? [],
      client: client(location.tls ?? {}, address.origin, location.tokenHosts),
      limiter: limiter(address.origin, accountOf(credentials, location.tls)),
      retry,
      masker,
    });
  }
  /** By endpoint and scope: all artifacts of a repository share its connections, tokens and what is known of it. */
  const opened = new Map<string, Repository>();
  return {
    ...connections,
    repository({ image, ...location }, actions) {
      const address = resolveAddress(location.remoteURL, image, location.tls);
      const { repository } = address;
      const scope = `repository:${repository}:${actions}`;
      const key = JSON.stringify([location, scope]);
      const about = { place: `repository ${repository}`, scope };
      const known = opened.get(key) ?? createRepository(address, connect(location, address, about));
      opened.set(key, known);
      return { ...known, address };
    },
    async repositories(location, signal) {
      const address = resolveAddress(location.remoteURL, anyName, location.tls);
      const about = { place: 'the list of repositories', scope: 'registry:catalog:*' };
      const prefix = address.repository.slice(0, -anyName.length);
      const all = await listRepositories(address, connect(location, address, about), signal);
      return all.flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []));
    },
  };
}
