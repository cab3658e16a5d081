import type { RegistryCredentials } from '../credentials/docker-config.ts';
import type { Masker } from '../errors/mask.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { readBody, type Wire, type WireRequest } from '../http/http-client.ts';
import { isSameServer, sendFollowing } from '../http/redirect.ts';
import { type Asking, networkFailure, statusFailure } from '../http/request-failures.ts';

export interface TokenRequest {
  realm: string;
  service?: string;
  scopes: readonly string[];
}

export interface Token {
  value: string;
  lifetimeMs: number;
}

/** Gets access tokens where a registry's Bearer challenge points to. */
export interface TokenService {
  fetch(request: TokenRequest, signal: AbortSignal): Promise<Token>;
}

export interface TokenServiceOptions {
  wire: Wire;
  credentials: RegistryCredentials;
  /** `https://host[:port]` of the registry: its credentials go to no service less protected than itself. */
  origin: string;
  asking: Asking;
  masker: Masker;
}

const defaultLifetimeMs = 60_000;
const longestAnswer = 1024 * 1024;
const headerText = /^[\x21-\x7e]+$/;

function realmURL(realm: string, options: TokenServiceOptions): URL {
  const failure = (why: string): TransferError =>
    new TransferError(
      'permanent',
      `Registry ${options.asking.host} names a token service that cannot be used: ${why}.`,
    );
  if (!URL.canParse(realm)) throw failure('its realm is no URL');
  const url = new URL(realm);
  if (url.protocol === 'https:') return url;
  if (url.protocol !== 'http:') throw failure(`its scheme is "${url.protocol}"`);
  if (options.origin.startsWith('https:'))
    throw failure('the registry speaks https and the token service only http');
  return url;
}

function tokenRequest(request: TokenRequest, options: TokenServiceOptions, signal: AbortSignal): WireRequest {
  const url = realmURL(request.realm, options);
  const { credentials } = options;
  if (credentials.kind === 'identity') {
    const form = new URLSearchParams({
      grant_type: 'refresh_token',
      refresh_token: credentials.token,
      client_id: 'arc',
    });
    if (request.service !== undefined) form.set('service', request.service);
    form.set('scope', request.scopes.join(' '));
    const body = Buffer.from(form.toString());
    const headers = {
      'content-type': 'application/x-www-form-urlencoded',
      'content-length': String(body.length),
    };
    return { method: 'POST', url, headers, body: () => body, signal };
  }
  if (request.service !== undefined) url.searchParams.set('service', request.service);
  for (const scope of request.scopes) url.searchParams.append('scope', scope);
  const headers: Record<string, string> = {};
  if (credentials.kind === 'basic') {
    url.searchParams.set('account', credentials.username);
    const pair = `${credentials.username}:${credentials.password}`;
    headers.authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
  }
  return { method: 'GET', url, headers, signal };
}

function parseToken(body: Buffer | undefined, asking: Asking): Token {
  let parsed: { token?: unknown; access_token?: unknown; expires_in?: unknown } | null = null;
  try {
    parsed = JSON.parse(body?.toString('utf8') ?? '');
  } catch {
    // Falls through to the message below: the text itself may hold a token.
  }
  const value = [parsed?.token, parsed?.access_token].find((each) => typeof each === 'string' && each !== '');
  if (typeof value !== 'string' || !headerText.test(value)) {
    throw new TransferError(
      'permanent',
      `The token service of registry ${asking.host} answered without a token.`,
    );
  }
  const seconds = parsed?.expires_in;
  const given = typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : defaultLifetimeMs;
  return { value, lifetimeMs: given };
}

/** A TokenService with one registry's credentials. Its failures are TransferErrors; the caller retries them. */
export function createTokenService(options: TokenServiceOptions): TokenService {
  const { wire, masker } = options;
  const asking = { ...options.asking, doing: 'asking its token service for access' };
  return {
    async fetch(request, signal) {
      try {
        const asked = tokenRequest(request, options, signal);
        // The same server may have moved its token service; another one is not told who asks.
        const same = (url: URL): boolean => isSameServer(asked.url, url);
        const { answer } = await sendFollowing(wire, asked, { trusted: same, allowed: same });
        const body = await readBody(answer.body, longestAnswer);
        if (answer.status !== 200) throw statusFailure(asking, answer.status, answer.headers, body);
        const token = parseToken(body, asking);
        masker.add(token.value);
        return token;
      } catch (caught) {
        throw networkFailure(asking, caught);
      }
    },
  };
}
