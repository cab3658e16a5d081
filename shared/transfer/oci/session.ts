import { createMasker, type Masker } from '#shared/base/errors';
import { accountOf } from '../credentials/account.ts';
import { credentialsFor, type EndpointCredentials, secretsOf } from '../credentials/credentials.ts';
import type { RegistryCredentials } from '../credentials/docker-config.ts';
import { explainShortage, reworded, stopped, TransferError } from '../errors/transfer-error.ts';
import { createHttpClient, defaultTimeouts, type HttpClient, type Timeouts } from '../http/http-client.ts';
import { createLimiters, type LimiterOf } from '../http/limiter.ts';
import { mayKnow } from '../http/reach.ts';
import { defaultRetry, type RetryPolicy } from '../http/retry.ts';
import { waitsIn } from '../http/waits.ts';
import { createIdentities, type Identities } from '../identity/identities.ts';
import { type ImageAddress, resolveAddress, type TlsSettings } from '../reference/image-address.ts';
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
  /** Hosts of the registry's token service that get the credentials too (`isTrustedRealm`). */
  tokenHosts?: readonly string[];
  /** Hosts that the registry may redirect to and have uploads sent to (`createReach`). */
  redirectHosts?: readonly string[];
  /** False: another registry than the Endpoint's own, which gets no identity of a cloud. */
  identity?: false;
}

export interface SessionOptions {
  retry?: Partial<RetryPolicy>;
  timeouts?: Partial<Timeouts>;
  /** The environment with HTTP_PROXY, HTTPS_PROXY and NO_PROXY; default: no proxy. */
  proxyEnv?: Readonly<Record<string, string | undefined>>;
  /** The environment in which a cloud has told a pod its identity (`createIdentities`); default: no identity. */
  identityEnv?: Readonly<Record<string, string | undefined>>;
  /** A folder in which workers of one machine tell one another how long a server wants no requests of an account. */
  waitsDir?: string;
}

/** The state that the parts of one transfer share: limits per account at a host, secrets to mask, connections to close. */
export interface Session {
  readonly masker: Masker;
  readonly retry: RetryPolicy;
  /** For Endpoints without credentials at servers of clouds. */
  readonly identities: Identities;
  /** A client for one repository. `actions`: `pull` or `pull,push`. Throws a config TransferError. */
  open(location: ImageLocation, actions: 'pull' | 'pull,push'): Repository;
  /** The names of the repositories below `remoteURL`, relative to it (`listRepositories`). */
  repositories(location: Omit<ImageLocation, 'image'>, signal: AbortSignal): Promise<string[]>;
  /** Turns a caught error into one for users: the abort if there was one, with secrets masked. */
  explain(caught: unknown, signal: AbortSignal): unknown;
  /**
   * A client for another HTTP server at `origin`, closed with the session. Its requests run in the slots of the account's `limiter`. The client
   * certificate is shown to that server and to the `tokenHosts`.
   */
  client(tls: TlsSettings, origin: string, tokenHosts?: readonly string[]): HttpClient;
  readonly limiter: LimiterOf;
  close(): void;
}

const notItsOwn: RegistryCredentials = {
  kind: 'none',
  hint: 'for registries other than its own, it needs a Secret with .dockerconfigjson',
};
/** Stands for any repository where only what is before its name counts. */
const anyName = 'any';

/** Starts a session. It sends nothing until a repository is used. */
export function openSession(options: SessionOptions = {}): Session {
  const masker = createMasker();
  const limiterOf = createLimiters(options.waitsDir === undefined ? undefined : waitsIn(options.waitsDir));
  const retry = { ...defaultRetry, ...options.retry };
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const clients: HttpClient[] = [];
  function client(tls: TlsSettings, origin: string, tokenHosts: readonly string[] = []): HttpClient {
    const fresh = createHttpClient(tls, timeouts, options.proxyEnv, mayKnow(origin, tokenHosts));
    clients.push(fresh);
    return fresh;
  }
  const identities = createIdentities({ env: options.identityEnv ?? {}, client, masker });
  function credentialsOf(
    { credentials, identity, tls }: Omit<ImageLocation, 'image'>,
    { origin, host, repository }: ImageAddress,
  ): RegistryCredentials {
    if (credentials !== undefined) return credentialsFor(credentials, host, repository);
    return identity === false ? notItsOwn : identities.registry(origin, tls);
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
      // An identity goes to no host that only the Endpoint vouches for.
      tokenHosts: credentials.kind === 'cloud' ? [] : (location.tokenHosts ?? []),
      redirectHosts: location.redirectHosts ?? [],
      client: client(location.tls ?? {}, address.origin, location.tokenHosts),
      limiter: limiterOf(address.origin, accountOf(credentials, location.tls)),
      retry,
      masker,
    });
  }
  return {
    masker,
    retry,
    identities,
    client,
    limiter: limiterOf,
    open(location, actions) {
      const address = resolveAddress(location.remoteURL, location.image, location.tls);
      const { repository } = address;
      const about = { place: `repository ${repository}`, scope: `repository:${repository}:${actions}` };
      return createRepository(address, connect(location, address, about));
    },
    async repositories(location, signal) {
      const address = resolveAddress(location.remoteURL, anyName, location.tls);
      const about = { place: 'the list of repositories', scope: 'registry:catalog:*' };
      const prefix = address.repository.slice(0, -anyName.length);
      const all = await listRepositories(address, connect(location, address, about), signal);
      return all.flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []));
    },
    explain(caught, signal) {
      const error = signal.aborted ? stopped(signal) : explainShortage(caught);
      return error instanceof TransferError ? reworded(error, masker.apply(error.message)) : error;
    },
    close() {
      for (const client of clients) client.close();
    },
  };
}
