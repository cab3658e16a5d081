import * as openid from 'openid-client';
import { ArcError } from '#shared/base/errors';

/** What a viewer signs in with at the cluster. */
export interface Credential {
  /** The token for a request. Rejects with Unauthorized where there is none any more, and with ServiceUnavailable where it may come back. */
  token(): Promise<string>;
  /** Makes it useless as far as that is possible; never rejects. */
  revoke(): Promise<void>;
}

/** A token that somebody has typed in. It is checked by the cluster, and lasts as long as the cluster takes it. */
export function pasted(given: unknown): Credential {
  const token = typeof given === 'string' ? given.trim() : '';
  // What a header may hold: RFC 6750, section 2.1.
  if (!/^[\w\-.~+/]+=*$/.test(token)) throw new ArcError('Unauthorized', 'this is no token');
  return { token: async () => token, revoke: async () => {} };
}

/** What a browser keeps while its user is at the issuer. */
export interface Pending {
  state: string;
  nonce: string;
  verifier: string;
}

export interface SignOn {
  /** Returns where to send the browser. Rejects with ServiceUnavailable where the issuer cannot be reached. */
  begin(): Promise<{ url: URL; pending: Pending }>;
  /** Resolves with what the issuer has given. `query`: with which the browser came back. Rejects with Unauthorized where it does not fit. */
  finish(query: URLSearchParams, pending: Pending): Promise<Credential>;
}

export interface SignOnOptions {
  issuer: string;
  clientId: string;
  clientSecret?: string | undefined;
  scopes: string;
  /** Where the issuer sends browsers back to. */
  redirectUri: string;
}

/** Of a request to the issuer. */
const timeoutSeconds = 10;
/** A token is renewed so long before it expires. */
const leadMs = 60_000;
/** How soon an issuer that did not answer is asked again. */
const againMs = 5_000;

/**
 * Signs people in by OpenID Connect: authorization code flow with PKCE. The ID token is the credential, as kube-apiserver takes it
 * (`--oidc-issuer-url`); its signature is verified there, before a session begins.
 */
export function createSignOn({ issuer, clientId, clientSecret, scopes, redirectUri }: SignOnOptions): SignOn {
  let discovered: Promise<openid.Configuration> | undefined;
  const configuration = () => {
    // What an issuer says of itself stays while this program runs; a failure does not.
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
  // What an issuer takes that does not say so: OpenID Connect Discovery, section 3.
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

/** An ID token that is renewed before it expires, where the issuer has given a refresh token. */
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
      // The issuer has answered, and will answer the same again.
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
        // Some issuers take each refresh token once: all requests wait for one renewal.
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
      // It is not used again either way.
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

/** Texts of the library name the check that failed; those of an issuer come from elsewhere and are short. */
function reasonOf(caught: unknown): string {
  if (caught instanceof openid.ResponseBodyError || caught instanceof openid.AuthorizationResponseError)
    return `${caught.error}${caught.error_description ? `: ${caught.error_description}` : ''}`.slice(0, 300);
  const { message } = ArcError.from(caught);
  const cause = caught instanceof Error && caught.cause instanceof Error ? `: ${caught.cause.message}` : '';
  return `${message}${cause}`.slice(0, 300);
}
