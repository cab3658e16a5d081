import type { IncomingHttpHeaders } from 'node:http';
import type { Masker } from '#shared/base/errors';
import type { ImageAddress } from '#shared/domain/address';
import { createAuthorizer } from '../auth/authorizer.ts';
import { createTokenService } from '../auth/token-service.ts';
import type { RegistryCredentials } from '../credentials/docker-config.ts';
import { abortError } from '../errors/transfer-error.ts';
import { type BodySource, type ByteStream, readBody } from '../http/body.ts';
import type { HttpClient, HttpRequest, HttpResponse } from '../http/http-client.ts';
import type { Limiter } from '../http/limiter.ts';
import { createReach } from '../http/reach.ts';
import { type Followed, sendFollowing } from '../http/redirect.ts';
import {
  type RequestContext,
  registryNetworkFailure,
  registryStatusFailure,
} from '../http/request-failures.ts';
import { type RetryPolicy, withRetries } from '../http/retry.ts';
import { isDigest } from '../reference/digest.ts';

/** One request to a registry. */
export interface RegistryRequest {
  method: 'GET' | 'HEAD' | 'POST' | 'PUT';
  /** A path within the registry (from `/v2/`), or the URL that the registry gave. */
  target: string | URL;
  /** Statuses that the caller handles; every other one becomes a TransferError. */
  expect: readonly number[];
  /** For messages, as in "reading manifest 1.0". */
  activity: string;
  /** Token scopes in addition to the client's own. */
  scopes?: readonly string[];
  writing?: boolean;
  headers?: Readonly<Record<string, string>>;
  body?: BodySource;
  length?: number;
  /** True: the caller reads the body as a stream. Otherwise the client reads up to `limit` bytes. */
  streamed?: boolean;
  /** See HttpRequest. */
  reusesBuffers?: boolean;
  limit?: number;
  /** False: a single attempt, because the caller must prepare the next one. */
  retried?: boolean;
}

export interface RegistryResponse {
  status: number;
  headers: IncomingHttpHeaders;
  /** The URL of the response, after redirects. */
  url: URL;
  /** False if another server sent the response; messages must not quote it. */
  quotable: boolean;
  /** The body; undefined if it is streamed or longer than the limit. */
  bytes: Buffer | undefined;
  stream: ByteStream;
}

/** Sends a request to the registry. Rejects with a TransferError. */
export type RegistryClient = (request: RegistryRequest, signal: AbortSignal) => Promise<RegistryResponse>;

export interface RegistryClientOptions {
  address: Pick<ImageAddress, 'origin' | 'host'>;
  endpoint: string;
  credentials: RegistryCredentials;
  tokenHosts: readonly string[];
  redirectHosts: readonly string[];
  client: HttpClient;
  limiter: Limiter;
  retry: RetryPolicy;
  masker: Masker;
  /** The scope of the client for messages, as in "repository team/app". */
  place: string;
  /** The scope of its tokens, such as `repository:team/app:pull,push` (distribution project, token authentication). */
  scope: string;
}

const userAgent = 'arc-transfer';
const defaultLimit = 64 * 1024;

/** Creates a client for one repository or the catalog of a registry, with authorization, redirects, limits, retries and explained failures. */
export function createRegistryClient(options: RegistryClientOptions): RegistryClient {
  const { address, client, limiter } = options;
  const clientContext: RequestContext = {
    ...options,
    host: address.host,
    activity: '',
    writing: false,
  };
  const tokens = createTokenService({ ...options, origin: address.origin, context: clientContext });
  const authorizer = createAuthorizer(options.credentials, tokens);

  const origin = new URL(address.origin);
  const { endpoint, redirectHosts } = options;
  const reach = createReach({ endpoint, origin: () => origin, redirectHosts });
  let baseChallenge: Promise<boolean> | undefined;

  // A pod identity may need three attempts: anonymous, with an anonymous token, and with its own credentials.
  const maxRepeats = options.credentials.kind === 'cloud' ? 2 : 1;

  /** Sends a request, and again with other credentials if the registry challenges it. */
  async function attempt(
    request: RegistryRequest,
    context: RequestContext,
    signal: AbortSignal,
  ): Promise<RegistryResponse> {
    const scopes = [options.scope, ...(request.scopes ?? [])];
    for (let repeats = 0; ; repeats += 1) {
      const authorization = await authorizer.header(scopes, signal);
      const answer = await exchange(request, authorization, context, signal);
      const { response } = answer;
      // Only the registry itself may challenge, not a server that it redirects to.
      const again =
        repeats < maxRepeats &&
        answer.access.credentials &&
        (response.status === 401
          ? challenged(response, scopes, authorization)
          : await hidesChallenge(response.status, authorization, scopes, signal));
      if (!again) return accept(request, context, answer);
      await readBody(response.body, defaultLimit);
    }
  }

  function challenged(
    { headers, fromPublic }: HttpResponse,
    scopes: readonly string[],
    sent: string | undefined,
  ): boolean {
    return authorizer.challenged(headers['www-authenticate'], scopes, sent, fromPublic);
  }

  function exchange(
    request: RegistryRequest,
    authorization: string | undefined,
    context: RequestContext,
    signal: AbortSignal,
  ): Promise<Followed> {
    return sendFollowing(client, httpRequest(address, request, authorization, signal), {
      reach,
      from: origin,
      onRequest: (url, { server, quotable }) => {
        context.redirectHost = server === 'own' ? undefined : url.host;
        context.quotable = quotable;
      },
    });
  }

  /**
   * Some registries answer anonymous clients with 404 for a private repository, and challenge only at the base of the API. True if this
   * registry does, and another attempt can be made.
   */
  async function hidesChallenge(
    status: number,
    authorization: string | undefined,
    scopes: readonly string[],
    signal: AbortSignal,
  ): Promise<boolean> {
    const anonymous = authorization === undefined && options.credentials.kind !== 'none';
    if (!anonymous || (status !== 403 && status !== 404)) return false;
    baseChallenge ??= (async () => {
      const base: RegistryRequest = { method: 'GET', target: '/v2/', expect: [], activity: '' };
      const { response, access } = await exchange(base, undefined, { ...clientContext }, signal);
      await readBody(response.body, defaultLimit);
      return response.status === 401 && access.credentials && challenged(response, scopes, undefined);
    })();
    try {
      return await baseChallenge;
    } catch (caught) {
      baseChallenge = undefined;
      throw caught;
    }
  }

  /** Returns the response if its status is expected; throws the explained failure otherwise. */
  async function accept(
    request: RegistryRequest,
    context: RequestContext,
    { response, url, access, refusal }: Followed,
  ): Promise<RegistryResponse> {
    const { status, headers, body } = response;
    const { quotable } = access;
    const expected = request.expect.includes(status);
    if (expected && request.streamed === true)
      return { status, headers, url, quotable, bytes: undefined, stream: body };
    const bytes = await readBody(body, expected ? (request.limit ?? defaultLimit) : defaultLimit);
    if (expected) return { status, headers, url, quotable, bytes, stream: body };
    const failure = registryStatusFailure({ ...context, refusal }, status, headers, bytes);
    if (status === 429 || status === 503)
      limiter.slowDown(Math.min(failure.retryAfterMs ?? options.retry.baseMs, options.retry.maxRetryAfterMs));
    throw failure;
  }

  return async (request, signal) => {
    const { activity, writing = false } = request;
    const context: RequestContext = { ...clientContext, activity, writing };
    const limitedAttempt = async (): Promise<RegistryResponse> => {
      try {
        // An upload may wait for a download from the same host, so it must not occupy the slot that the download needs.
        if (request.body !== undefined && request.length !== undefined) {
          await limiter.pass(signal);
          return await attempt(request, context, signal);
        }
        return await limiter.run(signal, () => attempt(request, context, signal));
      } catch (caught) {
        if (signal.aborted) throw abortError(signal);
        throw registryNetworkFailure(context, caught);
      }
    };
    if (request.retried === false) return limitedAttempt();
    return withRetries({ policy: options.retry, signal }, limitedAttempt);
  };
}

function httpRequest(
  address: Pick<ImageAddress, 'origin'>,
  request: RegistryRequest,
  authorization: string | undefined,
  signal: AbortSignal,
): HttpRequest {
  const { method, length, body } = request;
  const headers: Record<string, string> = { 'user-agent': userAgent, ...request.headers };
  if (authorization !== undefined) headers.authorization = authorization;
  if (length !== undefined) headers['content-length'] = String(length);
  else if (method === 'POST' || method === 'PUT') headers['content-length'] = '0';
  return {
    method,
    url: new URL(request.target, address.origin),
    headers,
    signal,
    ...(body === undefined ? {} : { body }),
    ...(request.streamed === true ? { streamed: true, reusesBuffers: request.reusesBuffers === true } : {}),
  };
}

/** The digest that the registry reports; undefined if absent or invalid. */
export function reportedDigest(headers: IncomingHttpHeaders): string | undefined {
  const digest = headers['docker-content-digest'];
  return typeof digest === 'string' && isDigest(digest) ? digest : undefined;
}
