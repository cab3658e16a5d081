import { createMasker, type Masker } from '#shared/errors';
import { credentialsFor, type EndpointCredentials, secretsOf } from '../credentials/credentials.ts';
import { reworded, stopped, TransferError } from '../errors/transfer-error.ts';
import { createHttpClient, defaultTimeouts, type HttpClient, type Timeouts } from '../http/http-client.ts';
import { createLimiters, type Limiter } from '../http/limiter.ts';
import { mayKnow } from '../http/redirect.ts';
import { defaultRetry, type RetryPolicy } from '../http/retry.ts';
import { createIdentities, type Identities } from '../identity/identities.ts';
import { resolveAddress, type TlsSettings } from '../reference/image-address.ts';
import { createRegistryClient } from './registry-client.ts';
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
}

export interface SessionOptions {
  retry?: Partial<RetryPolicy>;
  timeouts?: Partial<Timeouts>;
  /** The environment with HTTP_PROXY, HTTPS_PROXY and NO_PROXY; default: no proxy. */
  proxyEnv?: Readonly<Record<string, string | undefined>>;
  /** The environment in which a cloud has told a pod its identity (`createIdentities`); default: no identity. */
  identityEnv?: Readonly<Record<string, string | undefined>>;
}

/** The state that the parts of one transfer share: limits per host, secrets to mask, connections to close. */
export interface Session {
  readonly masker: Masker;
  readonly retry: RetryPolicy;
  /** For Endpoints without credentials at servers of clouds. */
  readonly identities: Identities;
  /** A client for one repository. `actions`: `pull` or `pull,push`. Throws a config TransferError. */
  open(location: ImageLocation, actions: 'pull' | 'pull,push'): Repository;
  /** Turns a caught error into one for users: the abort if there was one, with secrets masked. */
  explain(caught: unknown, signal: AbortSignal): unknown;
  /**
   * A client for another HTTP server at `origin`, closed with the session. Its requests run in the slots of the server's `limiter`. The client
   * certificate is shown to that server and to the `tokenHosts`.
   */
  client(tls: TlsSettings, origin: string, tokenHosts?: readonly string[]): HttpClient;
  /** The limiter of the server at an origin, `https://host[:port]`. */
  limiter(origin: string): Limiter;
  close(): void;
}

/** Starts a session. It sends nothing until a repository is used. */
export function openSession(options: SessionOptions = {}): Session {
  const masker = createMasker();
  const limiterOf = createLimiters();
  const retry = { ...defaultRetry, ...options.retry };
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const clients: HttpClient[] = [];
  function client(tls: TlsSettings, origin: string, tokenHosts: readonly string[] = []): HttpClient {
    const fresh = createHttpClient(tls, timeouts, options.proxyEnv, mayKnow(origin, tokenHosts));
    clients.push(fresh);
    return fresh;
  }
  const identities = createIdentities({ env: options.identityEnv ?? {}, client, masker });
  return {
    masker,
    retry,
    identities,
    client,
    limiter: limiterOf,
    open(location, actions) {
      const address = resolveAddress(location.remoteURL, location.image, location.tls);
      const credentials =
        location.credentials === undefined
          ? identities.registry(address.origin, location.tls)
          : credentialsFor(location.credentials, address.host, address.repository);
      for (const secret of secretsOf(credentials)) masker.add(secret);
      const registryClient = createRegistryClient({
        address,
        endpoint: location.name,
        credentials,
        // An identity goes to no host that only the Endpoint vouches for.
        tokenHosts: credentials.kind === 'cloud' ? [] : (location.tokenHosts ?? []),
        client: client(location.tls ?? {}, address.origin, location.tokenHosts),
        limiter: limiterOf(address.origin),
        retry,
        masker,
        actions,
      });
      return createRepository(address, registryClient);
    },
    explain(caught, signal) {
      const error = signal.aborted ? stopped(signal) : caught;
      return error instanceof TransferError ? reworded(error, masker.apply(error.message)) : error;
    },
    close() {
      for (const client of clients) client.close();
    },
  };
}
