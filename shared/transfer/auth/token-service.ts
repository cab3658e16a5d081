import type { Masker } from '#shared/base/errors';
import { currentCredentials } from '../credentials/credentials.ts';
import type { RegistryCredentials } from '../credentials/docker-config.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { readBody } from '../http/body.ts';
import type { HttpClient, HttpRequest } from '../http/http-client.ts';
import { type Access, isSameServer, type ReachPolicy, realmAccess } from '../http/reach.ts';
import { sendFollowing } from '../http/redirect.ts';
import {
  type RequestContext,
  registryNetworkFailure,
  registryStatusFailure,
} from '../http/request-failures.ts';

export interface TokenRequest {
  realm: string;
  service?: string;
  /** True if the registry that names the realm has a public address. */
  fromPublic?: boolean;
  scopes: readonly string[];
  /** True for an anonymous token. */
  anonymous?: boolean;
}

export interface Token {
  value: string;
  lifetimeMs: number;
}

/** Fetches access tokens from the token service in a registry's Bearer challenge. */
export interface TokenService {
  fetch(request: TokenRequest, signal: AbortSignal): Promise<Token>;
}

export interface TokenServiceOptions {
  client: HttpClient;
  credentials: RegistryCredentials;
  /** `https://host[:port]` of the registry: an https registry's credentials are never sent over http. */
  origin: string;
  context: RequestContext;
  /** Hosts that may receive the credentials in addition to the registry's own. */
  tokenHosts: readonly string[];
  masker: Masker;
}

const defaultLifetimeMs = 60_000;
const maxTokenResponseBytes = 1024 * 1024;
const headerText = /^[\x21-\x7e]+$/;

function realmURL(realm: string, options: TokenServiceOptions): URL {
  const failure = (why: string): TransferError =>
    new TransferError(
      'permanent',
      `Registry ${options.context.host} names an unusable token service: ${why}.`,
    );
  if (!URL.canParse(realm)) throw failure('its realm is not a URL');
  const url = new URL(realm);
  if (url.protocol === 'https:') return url;
  if (url.protocol !== 'http:') throw failure(`its scheme is "${url.protocol}"`);
  if (options.origin.startsWith('https:'))
    throw failure('the registry uses https, but the token service uses http');
  return url;
}

/** Rejects a realm on an untrusted host: whoever can change the challenge would receive the credentials. */
function requireTrusted(
  realm: URL,
  access: Access,
  { origin, context, credentials }: TokenServiceOptions,
): void {
  const { hostname, host } = realm;
  if (credentials.kind === 'cloud') {
    if (isSameServer(new URL(origin), realm)) return;
    const text = `Registry ${context.host} names a token service on another server, ${realm.host}, which does not receive the identity of the pod.`;
    throw new TransferError('permanent', text);
  }
  if (access.credentials) return;
  const where = hostname === new URL(origin).hostname ? `port, ${host}` : `host, ${hostname}`;
  throw new TransferError(
    'config',
    `Registry ${context.host} names a token service on another ${where}, which does not receive the credentials: if it is trusted, add ${hostname} to spec.tokenHosts of Endpoint "${context.endpoint}".`,
  );
}

async function tokenRequest(
  request: TokenRequest,
  options: TokenServiceOptions,
  signal: AbortSignal,
): Promise<{ asked: HttpRequest; access: Access }> {
  const url = realmURL(request.realm, options);
  const { tokenHosts } = options;
  const origin = new URL(options.origin);
  const access = realmAccess(url, { origin, tokenHosts, fromPublic: request.fromPublic === true });
  const own: RegistryCredentials = request.anonymous === true ? { kind: 'none' } : options.credentials;
  if (own.kind !== 'none') requireTrusted(url, access, options);
  const credentials = await currentCredentials(own, signal);
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
    return { asked: { method: 'POST', url, headers, body: () => body, signal }, access };
  }
  if (request.service !== undefined) url.searchParams.set('service', request.service);
  for (const scope of request.scopes) url.searchParams.append('scope', scope);
  const headers: Record<string, string> = {};
  if (credentials.kind === 'basic') {
    url.searchParams.set('account', credentials.username);
    const pair = `${credentials.username}:${credentials.password}`;
    headers.authorization = `Basic ${Buffer.from(pair).toString('base64')}`;
  }
  return { asked: { method: 'GET', url, headers, signal }, access };
}

function parseToken(body: Buffer | undefined, context: RequestContext): Token {
  let parsed: { token?: unknown; access_token?: unknown; expires_in?: unknown } | null = null;
  try {
    parsed = JSON.parse(body?.toString('utf8') ?? '');
  } catch {
    // Reported below without the text, which may contain a token.
  }
  const value = [parsed?.token, parsed?.access_token].find((each) => typeof each === 'string' && each !== '');
  if (typeof value !== 'string' || !headerText.test(value)) {
    throw new TransferError(
      'permanent',
      `The token service of registry ${context.host} did not return a token.`,
    );
  }
  const seconds = parsed?.expires_in;
  const given = typeof seconds === 'number' && seconds > 0 ? seconds * 1000 : defaultLifetimeMs;
  return { value, lifetimeMs: given };
}

/** Creates a TokenService with the credentials of one registry. It rejects with TransferErrors, which the caller retries. */
export function createTokenService(options: TokenServiceOptions): TokenService {
  const { client, masker } = options;
  return {
    async fetch(request, signal) {
      const activity = 'requesting a token from its token service';
      const context: RequestContext = { ...options.context, activity };
      try {
        const { asked, access } = await tokenRequest(request, options, signal);
        context.quotable = access.quotable;
        // The same server may have moved its token service; other servers are not followed.
        const reach: ReachPolicy = {
          access: () => access,
          refusal: (_, url) =>
            isSameServer(asked.url, url) ? undefined : 'a token service may redirect only within its server',
        };
        const { response, refusal } = await sendFollowing(client, asked, { reach });
        context.refusal = refusal;
        const body = await readBody(response.body, maxTokenResponseBytes);
        if (response.status !== 200)
          throw registryStatusFailure(context, response.status, response.headers, body);
        const token = parseToken(body, context);
        masker.add(token.value);
        return token;
      } catch (caught) {
        throw registryNetworkFailure(context, caught);
      }
    },
  };
}
