import { credentialsFor, type EndpointCredentials, secretsOf } from '../credentials/credentials.ts';
import { createMasker, type Masker } from '../errors/mask.ts';
import { reworded, stopped, TransferError } from '../errors/transfer-error.ts';
import { createWire, defaultTimeouts, type Timeouts, type Wire } from '../http/http-client.ts';
import { createLimiters } from '../http/limiter.ts';
import { defaultRetry, type RetryPolicy } from '../http/retry.ts';
import { resolvePlace, type TlsSettings } from '../reference/image-address.ts';
import { createCaller } from './registry-client.ts';
import { createRepository, type Repository } from './repository.ts';

/** An image at an Endpoint. */
export interface ImageLocation {
  /** Name of the Endpoint, for messages. */
  name: string;
  /** `https://host[:port][/prefix]`, `http://...`, or bare. */
  remoteURL: string;
  /** `path[:tag][@digest]` below it. */
  image: string;
  tls?: TlsSettings;
  credentials?: EndpointCredentials;
}

export interface SessionOptions {
  retry?: Partial<RetryPolicy>;
  timeouts?: Partial<Timeouts>;
  /** Where HTTP_PROXY, HTTPS_PROXY and NO_PROXY are read from; default: no proxy. */
  proxyEnv?: Readonly<Record<string, string | undefined>>;
}

/** What the parts of one transfer share: limits per host, secrets to mask, connections to close. */
export interface Session {
  readonly masker: Masker;
  readonly retry: RetryPolicy;
  /** A client for one repository. `actions`: `pull` or `pull,push`. Throws a config TransferError. */
  open(location: ImageLocation, actions: 'pull' | 'pull,push'): Repository;
  /** What was caught, as it may be shown: the abort if there was one, and no secret in its message. */
  explained(caught: unknown, signal: AbortSignal): unknown;
  close(): void;
}

/** Starts a session; nothing is sent before a repository is asked for something. */
export function openSession(options: SessionOptions = {}): Session {
  const masker = createMasker();
  const limiterOf = createLimiters();
  const retry = { ...defaultRetry, ...options.retry };
  const timeouts = { ...defaultTimeouts, ...options.timeouts };
  const wires: Wire[] = [];
  return {
    masker,
    retry,
    open(location, actions) {
      const place = resolvePlace(location.remoteURL, location.image, location.tls);
      const credentials = credentialsFor(location.credentials, place.host, place.repository);
      for (const secret of secretsOf(credentials)) masker.add(secret);
      const wire = createWire(location.tls ?? {}, timeouts, options.proxyEnv);
      wires.push(wire);
      const limiter = limiterOf(place.origin);
      const caller = createCaller({
        place,
        endpoint: location.name,
        credentials,
        wire,
        limiter,
        retry,
        masker,
        actions,
      });
      return createRepository(place, caller);
    },
    explained(caught, signal) {
      const error = signal.aborted ? stopped(signal) : caught;
      return error instanceof TransferError ? reworded(error, masker.apply(error.message)) : error;
    },
    close() {
      for (const wire of wires) wire.close();
    },
  };
}
