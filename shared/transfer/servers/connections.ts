import { createMasker, type Masker } from '#shared/base/errors';
import { abortError, explainShortage, TransferError, withMessage } from '../errors/transfer-error.ts';
import { createHttpClient, defaultTimeouts, type HttpClient, type Timeouts } from '../http/http-client.ts';
import { createLimiters, type LimiterOf } from '../http/limiter.ts';
import { mayIdentifyAt } from '../http/reach.ts';
import { defaultRetry, type RetryPolicy } from '../http/retry.ts';
import { sharedWaitsIn } from '../http/shared-waits.ts';
import { createIdentities, type Identities } from '../identity/identities.ts';
import type { TlsSettings } from '../reference/address.ts';

export interface ConnectionOptions {
  retry?: Partial<RetryPolicy>;
  timeouts?: Partial<Timeouts>;
  /** The environment with HTTP_PROXY, HTTPS_PROXY and NO_PROXY; default: no proxy. */
  proxyEnv?: Readonly<Record<string, string | undefined>>;
  /** The environment with a pod's cloud identity (`createIdentities`); default: no identity. */
  identityEnv?: Readonly<Record<string, string | undefined>>;
  /** A folder in which the workers of one machine share Retry-After waits. */
  waitsDir?: string;
}

/** The shared state of one transfer: limits per account and host, secrets to mask, connections to close. */
export interface Connections {
  readonly masker: Masker;
  readonly retry: RetryPolicy;
  /** Pod identities, for Endpoints without credentials at cloud servers. */
  readonly identities: Identities;
  /** Turns a caught error into one for users: the signal's error if it is aborted, with secrets masked. */
  explain(caught: unknown, signal: AbortSignal): unknown;
  /**
   * Returns the client for the HTTP server at `origin`: equal arguments share its connections, which are closed with the session. The caller
   * runs its requests in the account's `limiter`. The client certificate is offered only to that server and to the `tokenHosts`.
   */
  client(tls: TlsSettings, origin: string, tokenHosts?: readonly string[]): HttpClient;
  readonly limiter: LimiterOf;
  close(): void;
}

/** Creates the connections of one transfer. Nothing is sent until they are used. */
export function createConnections(options: ConnectionOptions = {}): Connections {
  const masker = createMasker();
  const limiter = createLimiters(
    options.waitsDir === undefined ? undefined : sharedWaitsIn(options.waitsDir),
  );
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const clients = new Map<string, HttpClient>();
  function client(tls: TlsSettings, origin: string, tokenHosts: readonly string[] = []): HttpClient {
    const key = JSON.stringify([origin, tokenHosts, tls]);
    const known = clients.get(key);
    if (known !== undefined) return known;
    const fresh = createHttpClient(tls, timeouts, options.proxyEnv, mayIdentifyAt(origin, tokenHosts));
    clients.set(key, fresh);
    return fresh;
  }
  return {
    masker,
    retry: { ...defaultRetry, ...options.retry },
    identities: createIdentities({ env: options.identityEnv ?? {}, client, masker }),
    client,
    limiter,
    explain(caught, signal) {
      const error = signal.aborted ? abortError(signal) : explainShortage(caught);
      return error instanceof TransferError ? withMessage(error, masker.apply(error.message)) : error;
    },
    close() {
      for (const client of clients.values()) client.close();
    },
  };
}
