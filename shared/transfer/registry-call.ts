import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import { createAuthorizer } from './authorizer.ts';
import type { RegistryCredentials } from './docker-config.ts';
import { type Asking, networkFailure, statusFailure } from './failures.ts';
import type { Limiter } from './limiter.ts';
import type { Masker } from './mask.ts';
import type { Place } from './place.ts';
import { type RetryPolicy, withRetries } from './retry.ts';
import { createTokenService } from './token-service.ts';
import { stopped } from './transfer-error.ts';
import { type BodyMaker, readBody, type Wire, type WireAnswer } from './wire.ts';

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
const mostRedirects = 5;
const defaultLimit = 64 * 1024;
const redirects = new Set([301, 302, 303, 307, 308]);

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

  async function once(call: Call, asking: Asking, signal: AbortSignal): Promise<CallAnswer> {
    const scopes = [ownScope, ...(call.scopes ?? [])];
    for (let refreshed = false; ; refreshed = true) {
      const authorization = await authorizer.header(scopes, signal);
      const answer = await follow(wire, place, call, authorization, signal);
      if (answer.status === 401 && !refreshed) {
        await readBody(answer.body, defaultLimit);
        if (authorizer.challenged(answer.headers['www-authenticate'], scopes, authorization)) continue;
        throw statusFailure(asking, 401, answer.headers);
      }
      return settle(call, asking, answer);
    }
  }

  async function settle(call: Call, asking: Asking, answer: WireAnswer): Promise<CallAnswer> {
    const { status, headers, body } = answer;
    const expected = call.expect.includes(status);
    if (expected && call.streamed === true) return { status, headers, bytes: undefined, stream: body };
    const bytes = await readBody(body, expected ? (call.limit ?? defaultLimit) : defaultLimit);
    if (expected) return { status, headers, bytes, stream: body };
    const failure = statusFailure(asking, status, headers, bytes);
    if (status === 429)
      limiter.slowDown(Math.min(failure.retryAfterMs ?? options.retry.baseMs, options.retry.maxRetryAfterMs));
    throw failure;
  }

  return async (call, signal) => {
    const asking = { ...baseAsking, doing: call.doing, writing: call.writing === true };
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

/** Sends the call; GET and HEAD follow redirects. Authorization goes to the registry's own origin and nowhere else. */
async function follow(
  wire: Wire,
  place: Place,
  call: Call,
  authorization: string | undefined,
  signal: AbortSignal,
): Promise<WireAnswer> {
  let url = new URL(call.target, place.origin);
  for (let hops = 0; ; hops += 1) {
    const headers: Record<string, string> = { 'user-agent': userAgent, ...call.headers };
    if (authorization !== undefined && url.origin === new URL(place.origin).origin)
      headers.authorization = authorization;
    if (call.length !== undefined) headers['content-length'] = String(call.length);
    else if (call.method === 'POST' || call.method === 'PUT') headers['content-length'] = '0';
    const body = call.body === undefined ? {} : { body: call.body };
    const streamed = call.streamed === true ? { streamed: true } : {};
    const answer = await wire.send({ method: call.method, url, headers, signal, ...body, ...streamed });
    const location = answer.headers.location;
    const readOnly = call.method === 'GET' || call.method === 'HEAD';
    if (!readOnly || location === undefined || !redirects.has(answer.status) || hops >= mostRedirects)
      return answer;
    await readBody(answer.body, defaultLimit);
    if (!URL.canParse(location, url.href)) return answer;
    url = new URL(location, url);
  }
}
