import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { answer, type CloudService, formOf } from './cloud.ts';
import { passOn, replayed } from './front.ts';
import { audienceOf } from './pod-token.ts';

export interface GoogleOptions {
  /** The resource name of the only provider, which accepts the pod token `token()`. */
  provider: string;
  token: () => string;
  /** The service account that the pod may impersonate; if set, only it may use the registry. */
  serviceAccount?: string;
  /** An anonymous registry, at a plain HTTP origin. */
  registry: string;
}

/** Google services for a pod, by host, which follow Google's published API and check every field. */
export interface Google {
  services: Record<string, CloudService>;
  registryHost: string;
  /** Issued secrets, which must not be printed. */
  secrets: string[];
  /** The next errors of the Security Token Service instead of a token. */
  refusals: [status: number, error: string][];
  /** The next errors of the service account API. */
  actingRefusals: [status: number, code: string][];
}

const scope = 'https://www.googleapis.com/auth/cloud-platform';

/** Creates the services; `startCloud` starts them. */
export function googleServices({ provider, token, serviceAccount, registry }: GoogleOptions): Google {
  const registryHost = 'europe-west3-docker.pkg.dev';
  const federated = new Set<string>();
  const acting = new Set<string>();
  const registryTokens = new Set<string>();
  const google: Google = {
    services: {
      'sts.googleapis.com': exchangeToken,
      'iamcredentials.googleapis.com': actAs,
      [registryHost]: serve,
    },
    registryHost,
    secrets: [],
    refusals: [],
    actingRefusals: [],
  };
  const issue = (known: Set<string>): string => {
    const made = `ya29.${randomUUID()}`;
    google.secrets.push(made);
    known.add(made);
    return made;
  };

  function exchangeToken(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const fail = (status: number, error: string) =>
      answer(response, status, { error, error_description: 'No.' });
    const [refusal] = google.refusals.splice(0, 1);
    if (refusal !== undefined) return void fail(...refusal);
    const form = formOf(request, body);
    if (request.method !== 'POST' || request.url !== '/v1/token') return void fail(404, 'invalid_request');
    if (form?.audience !== provider) return void fail(400, 'invalid_target');
    if (form.subject_token !== token() || audienceOf(token()) !== 'sts.googleapis.com')
      return void fail(400, 'invalid_grant');
    const expected = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      audience: provider,
      scope,
      requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      subject_token: token(),
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    };
    if (!isDeepStrictEqual(form, expected)) return void fail(400, 'invalid_request');
    const issued = 'urn:ietf:params:oauth:token-type:access_token';
    const given = { access_token: issue(federated), issued_token_type: issued, token_type: 'Bearer' };
    answer(response, 200, { ...given, expires_in: 3599 });
  }

  function actAs(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const fail = (code: number, status: string) =>
      answer(response, code, { error: { code, message: 'No.', status } });
    const [refusal] = google.actingRefusals.splice(0, 1);
    if (refusal !== undefined) return void fail(...refusal);
    const { method, url, headers } = request;
    if (method !== 'POST' || url !== `/v1/projects/-/serviceAccounts/${serviceAccount}:generateAccessToken`)
      return void fail(404, 'NOT_FOUND');
    const [, given = ''] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? [];
    if (!federated.has(given)) return void fail(401, 'UNAUTHENTICATED');
    if (
      headers['content-type'] !== 'application/json' ||
      body.toString() !== JSON.stringify({ scope: [scope] })
    )
      return void fail(400, 'INVALID_ARGUMENT');
    const expireTime = new Date(Date.now() + 3_600_000).toISOString();
    answer(response, 200, { accessToken: issue(acting), expireTime });
  }

  /** The token service: with an access token, or anonymously with a token without permissions. */
  function giveToken({ headers }: IncomingMessage, response: ServerResponse, url: URL): void {
    const [, basic = ''] = /^Basic (.+)$/.exec(headers.authorization ?? '') ?? [];
    const [, password = ''] = /^oauth2accesstoken:(.+)$/.exec(Buffer.from(basic, 'base64').toString()) ?? [];
    const known = (serviceAccount === undefined ? federated : acting).has(password);
    if ((headers.authorization !== undefined && !known) || url.searchParams.get('service') !== registryHost)
      return void answer(response, 401, { errors: [{ code: 'UNAUTHORIZED', message: 'No.' }] });
    answer(response, 200, { token: known ? issue(registryTokens) : 'anybody', expires_in: 3599 });
  }

  function serve(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const url = new URL(request.url ?? '', `https://${registryHost}`);
    if (url.pathname === '/v2/token') return void giveToken(request, response, url);
    const given = (request.headers.authorization ?? '').replace(/^Bearer /, '');
    if (registryTokens.has(given)) {
      passOn(registry, replayed(request, body), response);
      return;
    }
    if (given === 'anybody')
      return void answer(response, 403, {
        errors: [{ code: 'DENIED', message: 'Unauthenticated request.' }],
      });
    const realm = `Bearer realm="https://${registryHost}/v2/token",service="${registryHost}"`;
    response.setHeader('www-authenticate', realm);
    answer(response, 401, { errors: [{ code: 'UNAUTHORIZED', message: 'No.' }] });
  }

  return google;
}
