import { createMasker, type Masker } from '#shared/errors';
import { credentialsFor, type EndpointCredentials, secretsOf } from '../credentials/credentials.ts';
import { reworded, stopped, TransferError } from '../errors/transfer-error.ts';
import { createHttpClient, defaultTimeouts, type HttpClient, type Timeouts } from '../http/http-client.ts';
import { createLimiters, type Limiter } from '../http/limiter.ts';
import { defaultRetry, type RetryPolicy } from '../http/retry.ts';
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
}

/** The state that the parts of one transfer share: limits per host, secrets to mask, connections to close. */
export interface Session {
  readonly masker: Masker;
  readonly retry: RetryPolicy;
  /** A client for one repository. `actions`: `pull` or `pull,push`. Throws a config TransferError. */
  open(location: ImageLocation, actions: 'pull' | 'pull,push'): Repository;
  /** Turns a caught error into one for users: the abort if there was one, with secrets masked. */
  explain(caught: unknown, signal: AbortSignal): unknown;
  /** A client for another HTTP server, closed with the session. Its requests run in the slots of the server's `limiter`. */
  client(tls: TlsSettings): HttpClient;
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
  function client(tls: TlsSettings): HttpClient {
    const fresh = createHttpClient(tls, timeouts, options.proxyEnv);
    clients.push(fresh);
    return fresh;
  }
  return {
    masker,
    retry,
    client,
    limiter: limiterOf,
    open(location, actions) {
      const address = resolveAddress(location.remoteURL, location.image, location.tls);
      const credentials = credentialsFor(location.credentials, address.host, address.repository);
      for (const secret of secretsOf(credentials)) masker.add(secret);
      const registryClient = createRegistryClient({
        address,
        endpoint: location.name,
        credentials,
        tokenHosts: location.tokenHosts ?? [],
        client: client(location.tls ?? {}),
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
