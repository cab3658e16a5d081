import { currentCredentials } from '../credentials/credentials.ts';
import type { RegistryCredentials } from '../credentials/docker-config.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { parseChallenges } from './challenge.ts';
import type { TokenRequest, TokenService } from './token-service.ts';

/** Creates the Authorization header of requests to one registry, and handles its challenges. */
export interface Authorizer {
  /** The header for a request that needs `scopes`; undefined for an anonymous request. */
  header(scopes: readonly string[], signal: AbortSignal): Promise<string | undefined>;
  /**
   * Handles the `WWW-Authenticate` header of a 401. Returns true if a retry would send another header. `fromPublic`: the registry has a public
   * address, so a token service that it names must have one too.
   */
  challenged(
    wwwAuthenticate: string | undefined,
    scopes: readonly string[],
    sent: string | undefined,
    fromPublic?: boolean,
  ): boolean;
}

interface CachedToken {
  value: Promise<string>;
  /** Set once the token has arrived. */
  token?: string;
  expires: number;
}

const maxTokens = 200;
const maxScopes = 20;

/** `repository:team/app` of `repository:team/app:pull`. */
function resourceOf(scope: string): string {
  return scope.split(':').slice(0, -1).join(':');
}

function basicHeader(credentials: RegistryCredentials): string | undefined {
  if (credentials.kind !== 'basic') return undefined;
  return `Basic ${Buffer.from(`${credentials.username}:${credentials.password}`).toString('base64')}`;
}

/**
 * Supports Basic and Bearer (the token authentication of the distribution project). Tokens are cached per set of scopes until shortly
 * before they expire; concurrent requests for the same token share one fetch.
 */
export function createAuthorizer(
  credentials: RegistryCredentials,
  tokens: TokenService,
  now: () => number = Date.now,
): Authorizer {
  type Bearer = Pick<TokenRequest, 'realm' | 'service' | 'fromPublic'>;
  let mode: { scheme: 'none' } | { scheme: 'basic' } | ({ scheme: 'bearer' } & Bearer) = { scheme: 'none' };
  const cache = new Map<string, CachedToken>();
  // A registry behind a proxy may use another repository name, and some registries define scopes of their own.
  const demandedScopes = new Set<string>();
  // Public content is read anonymously, until a request is refused.
  let anonymous = credentials.kind === 'cloud' && credentials.tokensForAll === true;

  function complete(scopes: readonly string[]): string[] {
    return [...new Set([...scopes, ...demandedScopes])].sort();
  }

  function learn(scope: string | undefined, scopes: readonly string[]): void {
    const known = new Set(scopes.map(resourceOf));
    for (const each of (scope ?? '').split(/\s+/)) {
      if (each !== '' && !known.has(resourceOf(each)) && demandedScopes.size < maxScopes)
        demandedScopes.add(each);
    }
  }

  function cachedToken(request: TokenRequest, key: string, signal: AbortSignal): Promise<string> {
    const known = cache.get(key);
    if (known && known.expires > now()) return known.value;
    const entry: CachedToken = { value: Promise.resolve(''), expires: Number.POSITIVE_INFINITY };
    const asked = tokens.fetch(request, signal);
    entry.value = asked.then((token) => {
      entry.expires = now() + token.lifetimeMs * 0.9;
      entry.token = token.value;
      return token.value;
    });
    // A failure is not cached; its waiters receive it through `value`.
    entry.value.catch(() => cache.delete(key));
    if (cache.size >= maxTokens) cache.clear();
    cache.set(key, entry);
    return entry.value;
  }

  async function bearerToken(request: TokenRequest, signal: AbortSignal): Promise<string> {
    const key = request.scopes.join(' ');
    if (!anonymous) return cachedToken(request, key, signal);
    try {
      return await cachedToken({ ...request, anonymous: true }, key, signal);
    } catch (caught) {
      const refused = caught instanceof TransferError && ['auth', 'denied'].includes(caught.reason);
      if (!refused) throw caught;
      anonymous = false;
      return cachedToken(request, key, signal);
    }
  }

  return {
    async header(scopes, signal) {
      if (credentials.kind === 'token') return `Bearer ${credentials.token}`;
      if (mode.scheme === 'none') return undefined;
      if (mode.scheme === 'basic') return basicHeader(await currentCredentials(credentials, signal));
      const sorted = complete(scopes);
      const { scheme: _, ...bearer } = mode;
      return `Bearer ${await bearerToken({ ...bearer, scopes: sorted }, signal)}`;
    },

    challenged(wwwAuthenticate, scopes, sent, fromPublic = false) {
      const challenges = parseChallenges(wwwAuthenticate ?? '');
      const bearer = challenges.find(({ scheme }) => scheme === 'bearer')?.parameters;
      const realm = bearer?.realm;
      if (realm !== undefined && credentials.kind !== 'token') {
        const service = bearer?.service;
        mode = {
          scheme: 'bearer',
          realm,
          ...(service !== undefined && { service }),
          ...(fromPublic && { fromPublic }),
        };
        if (sent !== undefined) anonymous = false;
        // Evicts only the refused token: another request may have fetched a new one meanwhile.
        const key = complete(scopes).join(' ');
        const known = cache.get(key);
        if (known?.token !== undefined && sent === `Bearer ${known.token}`) cache.delete(key);
        learn(bearer?.scope, scopes);
        return true;
      }
      if (!challenges.some(({ scheme }) => scheme === 'basic')) return false;
      mode = { scheme: 'basic' };
      // Cloud credentials are renewed in time, so a refusal is final.
      if (credentials.kind === 'cloud') return sent === undefined;
      const header = basicHeader(credentials);
      return header !== undefined && header !== sent;
    },
  };
}
