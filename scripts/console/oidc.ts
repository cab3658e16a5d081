import * as openid from 'openid-client';
import { ArcError } from '#shared/base/errors';

/** The credential of a viewer at the cluster. */
export interface Credential {
  /** Returns the token for a request. Rejects with Unauthorized once it has expired for good, with ServiceUnavailable if a renewal may still succeed. */
  token(): Promise<string>;
  /** Revokes the refresh token if the issuer supports that; never rejects. */
  revoke(): Promise<void>;
}

/** Returns the credential of a pasted token, which the cluster verifies and which is valid as long as the cluster accepts it. */
export function pasted(given: unknown): Credential {
  const token = typeof given === 'string' ? given.trim() : '';
  // The token syntax of RFC 6750, section 2.1.
  if (!/^[\w\-.~+/]+=*$/.test(token)) throw new ArcError('Unauthorized', 'this is no token');
  return { token: async () => token, revoke: async () => {} };
}

/** The state of a sign-in, kept by the browser while its user is at the issuer. */
export interface Pending {
  state: string;
  nonce: string;
  verifier: string;
}

export interface SignOn {
  /** Returns the authorization URL to redirect to. Rejects with ServiceUnavailable if the issuer cannot be reached. */
  begin(): Promise<{ url: URL; pending: Pending }>;
  /** Exchanges the code for tokens. `query`: of the redirect back from the issuer. Rejects with Unauthorized if a check fails. */
  finish(query: URLSearchParams, pending: Pending): Promise<Credential>;
}

export interface SignOnOptions {
  issuer: string;
  clientId: string;
  clientSecret?: string | undefined;
  scopes: string;
  /** The callback URL. */
  redirectUri: string;
}

/** Timeout of a request to the issuer. */
const timeoutSeconds = 10;
/** A token is renewed this long before it expires. */
const leadMs = 60_000;
/** Retry interval of failed renewals. */
const againMs = 5_000;

/**
 * Signs people in by OpenID Connect: authorization code flow with PKCE. The ID token is the credential, as kube-apiserver takes it
 * (`--oidc-issuer-url`); its signature is verified there, before a session begins.
 */
export function createSignOn({ issuer, clientId, clientSecret, scopes, redirectUri }: SignOnOptions): SignOn {
  let discovered: Promise<openid.Configuration> | undefined;
  const configuration = () => {
    // The metadata is cached while this program runs; a failure is not.
    discovered ??= discover(issuer, clientId, clientSecret).catch((caught: unknown) => {
      discovered = undefined;
      throw new ArcError('ServiceUnavailable', `the issuer ${issuer} cannot be reached: ${reasonOf(caught)}`);
    });
    return discovered;
  };
  return {
    async begin() {
      const config = await configuration();
      const pending = {
        state: openid.randomState(),
        nonce: openid.randomNonce(),
        verifier: openid.randomPKCECodeVerifier(),
      };
      const url = openid.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: scopes,
        state: pending.state,
        nonce: pending.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(pending.verifier),
        code_challenge_method: 'S256',
      });
      return { url, pending };
    },
    async finish(query, { state, nonce, verifier }) {
      const config = await configuration();
      const url = new URL(redirectUri);
      url.search = query.toString();
      const checks = {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      };
      const tokens = await openid.authorizationCodeGrant(config, url, checks).catch((caught: unknown) => {
        throw new ArcError('Unauthorized', `the issuer did not sign you in: ${reasonOf(caught)}`);
      });
      return renewing(config, tokens);
    },
  };
}

async function discover(
  issuer: string,
  clientId: string,
  secret: string | undefined,
): Promise<openid.Configuration> {
  const options = { timeout: timeoutSeconds };
  const found = await openid.discovery(new URL(issuer), clientId, undefined, openid.None(), options);
  const metadata = found.serverMetadata();
  // The default of OpenID Connect Discovery, section 3.
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const proof = methods.includes('client_secret_basic')
    ? openid.ClientSecretBasic(secret)
    : openid.ClientSecretPost(secret);
  const config = new openid.Configuration(
    metadata,
    clientId,
    undefined,
    secret === undefined ? openid.None() : proof,
  );
  config.timeout = timeoutSeconds;
  return config;
}

type Tokens = openid.TokenEndpointResponse & openid.TokenEndpointResponseHelpers;

/** Returns the credential of an ID token, which is renewed before it expires if the issuer has issued a refresh token. */
function renewing(config: openid.Configuration, first: Tokens): Credential {
  let { id, expiresMs } = idTokenOf(first);
  let refresh = first.refresh_token;
  let renewal: Promise<void> | undefined;
  let failedMs = 0;

  const renew = async (refreshToken: string) => {
    try {
      const next = await openid.refreshTokenGrant(config, refreshToken);
      ({ id, expiresMs } = idTokenOf(next));
      refresh = next.refresh_token ?? refreshToken;
    } catch (caught) {
      failedMs = Date.now();
      // A definite answer: a retry would get the same.
      if (caught instanceof openid.ResponseBodyError || ArcError.is(caught, 'Unauthorized'))
        refresh = undefined;
    } finally {
      renewal = undefined;
    }
  };
  return {
    async token() {
      const isDue = expiresMs - Date.now() < leadMs && Date.now() - failedMs > againMs;
      if (isDue && refresh !== undefined) {
        // Refresh tokens may be single-use: concurrent requests share one renewal.
        renewal ??= renew(refresh);
        await renewal;
      }
      if (expiresMs > Date.now()) return id;
      if (refresh === undefined)
        throw new ArcError('Unauthorized', 'your sign-on at the issuer is over: sign in again');
      throw new ArcError('ServiceUnavailable', 'the issuer that renews your sign-on does not answer');
    },
    async revoke() {
      const { revocation_endpoint } = config.serverMetadata();
      if (refresh === undefined || revocation_endpoint === undefined) return;
      // The refresh token is dropped even if the issuer does not revoke it.
      await openid.tokenRevocation(config, refresh).catch(() => {});
      refresh = undefined;
    },
  };
}

function idTokenOf(tokens: Tokens): { id: string; expiresMs: number } {
  const claims = tokens.claims();
  if (tokens.id_token === undefined || claims === undefined)
    throw new ArcError('Unauthorized', 'the issuer has given no ID token: add openid to the scopes');
  return { id: tokens.id_token, expiresMs: claims.exp * 1000 };
}

/** Returns the failed check that the library names, or the error of the issuer; cut, because an issuer controls its text. */
function reasonOf(caught: unknown): string {
  if (caught instanceof openid.ResponseBodyError || caught instanceof openid.AuthorizationResponseError)
    return `${caught.error}${caught.error_description ? `: ${caught.error_description}` : ''}`.slice(0, 300);
  const { message } = ArcError.from(caught);
  const cause = caught instanceof Error && caught.cause instanceof Error ? `: ${caught.cause.message}` : '';
  return `${message}${cause}`.slice(0, 300);
}
