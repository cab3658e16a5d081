import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { createAuthorizer } from '../auth/authorizer.ts';
import { createTokenService } from '../auth/token-service.ts';
import type { RegistryCredentials } from '../credentials/docker-config.ts';
import type { Masker } from '../errors/mask.ts';
import { stopped } from '../errors/transfer-error.ts';
import {
  type BodyMaker,
  readBody,
  type Wire,
  type WireAnswer,
  type WireRequest,
} from '../http/http-client.ts';
import type { Limiter } from '../http/limiter.ts';
import { isSameServer, sendFollowing } from '../http/redirect.ts';
import { type Asking, networkFailure, statusFailure } from '../http/request-failures.ts';
import { type RetryPolicy, withRetries } from '../http/retry.ts';
import type { Place } from '../reference/image-address.ts';

/** One thing asked of a registry. */
export interface Call {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT';
  /** A path within the registry (from `/v2/`), or the address that the registry itself gave. */
  target: string | URL;
  /** Statuses that the caller deals with; every other one becomes a TransferError. */
  expect: readonly number[];
  /** As in "reading manifest 1.0": for messages. */
  doing: string;
  /** Further token scopes than the repository's own. */
  scopes?: readonly string[];
  writing?: boolean;
  headers?: Readonly<Record<string, string>>;
  body?: BodyMaker;
  length?: number;
  /** True: hand over the body as a stream. Otherwise it is read here, up to `limit` bytes. */
  streamed?: boolean;
  limit?: number;
  /** False: one try only, as the caller has to prepare the next one. */
  retried?: boolean;
}

export interface CallAnswer {
  status: number;
  headers: IncomingHttpHeaders;
  /** Where the answer came from, after redirects. */
  url: URL;
  /** The body; undefined if it is streamed or longer than the limit. */
  bytes: Buffer | undefined;
  stream: Readable;
}

export type Caller = (call: Call, signal: AbortSignal) => Promise<CallAnswer>;

export interface CallerOptions {
  place: Place;
  endpoint: string;
  credentials: RegistryCredentials;
  wire: Wire;
  limiter: Limiter;
  retry: RetryPolicy;
  masker: Masker;
  /** What the tokens for this repository must allow, such as `pull` or `pull,push`. */
  actions: string;
}

const userAgent = 'arc-transfer';
const defaultLimit = 64 * 1024;

/** Asks one repository of one registry: authorization, redirects, limits, retries and explained failures. */
export function createCaller(options: CallerOptions): Caller {
  const { place, wire, limiter } = options;
  const baseAsking: Asking = {
    ...options,
    host: place.host,
    repository: place.repository,
    doing: '',
    writing: false,
  };
  const tokens = createTokenService({ ...options, origin: place.origin, asking: baseAsking });
  const authorizer = createAuthorizer(options.credentials, tokens);
  const ownScope = `repository:${place.repository}:${options.actions}`;

  const origin = new URL(place.origin);
  const own = (url: URL): boolean => isSameServer(origin, url);
  let asked: Promise<boolean> | undefined;

  async function once(call: Call, asking: Asking, signal: AbortSignal): Promise<CallAnswer> {
    const scopes = [ownScope, ...(call.scopes ?? [])];
    for (let refreshed = false; ; refreshed = true) {
      const authorization = await authorizer.header(scopes, signal);
      const { answer, url } = await ask(call, authorization, asking, signal);
      // Only the registry itself may ask for its credentials, not a server that it redirects to.
      const again =
        !refreshed &&
        own(url) &&
        (answer.status === 401
          ? authorizer.challenged(answer.headers['www-authenticate'], scopes, authorization)
          : await hidden(answer.status, authorization, scopes, signal));
      if (!again) return settle(call, asking, answer, url);
      await readBody(answer.body, defaultLimit);
    }
  }

  function ask(
    call: Call,
    authorization: string | undefined,
    asking: Asking,
    signal: AbortSignal,
  ): Promise<{ answer: WireAnswer; url: URL }> {
    return sendFollowing(wire, wireRequest(place, call, authorization, signal), {
      trusted: own,
      allowed: () => true,
      asking: (url) => {
        asking.elsewhere = own(url) ? undefined : url.host;
      },
    });
  }

  /**
   * Some registries show who has not logged in that a repository is not there instead of asking for credentials; the base of
   * the API is where they do ask. True if they do, and another try can be made.
   */
  async function hidden(
    status: number,
    authorization: string | undefined,
    scopes: readonly string[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const anonymous = authorization === undefined && options.credentials.kind !== 'none';
    if (!anonymous || (status !== 403 && status !== 404)) return false;
    asked ??= (async () => {
      const base: Call = { method: 'GET', target: '/v2/', expect: [], doing: '' };
      const { answer, url } = await ask(base, undefined, { ...baseAsking }, signal);
      await readBody(answer.body, defaultLimit);
      const challenge = answer.headers['www-authenticate'];
      return answer.status === 401 && own(url) && authorizer.challenged(challenge, scopes, undefined);
    })();
    try {
      return await asked;
    } catch (caught) {
      asked = undefined;
      throw caught;
    }
  }

  async function settle(call: Call, asking: Asking, answer: WireAnswer, url: URL): Promise<CallAnswer> {
    const { status, headers, body } = answer;
    const expected = call.expect.includes(status);
    if (expected && call.streamed === true) return { status, headers, url, bytes: undefined, stream: body };
    const bytes = await readBody(body, expected ? (call.limit ?? defaultLimit) : defaultLimit);
    if (expected) return { status, headers, url, bytes, stream: body };
    const failure = statusFailure(asking, status, headers, bytes);
    if (status === 429)
      limiter.slowDown(Math.min(failure.retryAfterMs ?? options.retry.baseMs, options.retry.maxRetryAfterMs));
    throw failure;
  }

  return async (call, signal) => {
    const asking: Asking = { ...baseAsking, doing: call.doing, writing: call.writing === true };
    const attempt = async (): Promise<CallAnswer> => {
      try {
        // A running upload may wait for a download from the same host: it must not hold the slot that one needs.
        if (call.body !== undefined && call.length !== undefined) {
          await limiter.pass(signal);
          return await once(call, asking, signal);
        }
        return await limiter.run(signal, () => once(call, asking, signal));
      } catch (caught) {
        if (signal.aborted) throw stopped(signal);
        throw networkFailure(asking, caught);
      }
    };
    if (call.retried === false) return attempt();
    return withRetries({ policy: options.retry, signal }, attempt);
  };
}

function wireRequest(
  place: Place,
  call: Call,
  authorization: string | undefined,
  signal: AbortSignal,
): WireRequest {
  const headers: Record<string, string> = { 'user-agent': userAgent, ...call.headers };
  if (authorization !== undefined) headers.authorization = authorization;
  if (call.length !== undefined) headers['content-length'] = String(call.length);
  else if (call.method === 'POST' || call.method === 'PUT') headers['content-length'] = '0';
  return {
    method: call.method,
    url: new URL(call.target, place.origin),
    headers,
    signal,
    ...(call.body === undefined ? {} : { body: call.body }),
    ...(call.streamed === true ? { streamed: true } : {}),
  };
}
