import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isDeepStrictEqual } from 'node:util';
import { answer, type CloudService, formOf } from './cloud.ts';
import { passOn, replayed } from './front.ts';
import { audienceOf, jwt } from './pod-token.ts';

export interface AzureOptions {
  tenant: string;
  /** The only client, which trusts the pod with the token `token()`. */
  clientID: string;
  token: () => string;
  /** An anonymous registry, at a plain HTTP origin. */
  registry: string;
}

/** Azure services for a client, by host, which follow Microsoft's published API and check every field. */
export interface Azure {
  services: Record<string, CloudService>;
  registryHost: string;
  /** Issued secrets, which must not be printed. */
  secrets: string[];
  /** The next errors of the login instead of a token: Microsoft Entra's number and the OAuth error. */
  refusals: [code: number, error: string][];
  /** The registry's next responses to a token of the login: status, code and message. */
  exchangeRefusals: [status: number, code: string, message: string][];
  /** True for anonymous pulls. */
  publicPull: boolean;
}

/** `<action> <repository>` permitted by a token. */
type Rights = ReadonlySet<string>;

const login = 'login.microsoftonline.com';

/** Creates the services; `startCloud` starts them. */
export function azureServices({ tenant, clientID, token, registry }: AzureOptions): Azure {
  const registryHost = 'mirror.azurecr.io';
  const accessTokens = new Set<string>();
  const refreshTokens = new Set<string>();
  const registryTokens = new Map<string, Rights>();
  const azure: Azure = {
    services: { [login]: signIn, [registryHost]: serve },
    registryHost,
    secrets: [],
    refusals: [],
    exchangeRefusals: [],
    publicPull: false,
  };
  const issue = (made: string): string => {
    azure.secrets.push(made);
    return made;
  };

  function signIn(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const fail = (code: number, error: string) =>
      answer(response, 400, {
        error,
        error_description: `AADSTS${code}: No.\r\nTrace ID: 1\r\nCorrelation ID: 2`,
        error_codes: [code],
        timestamp: '2026-01-01 00:00:00Z',
        trace_id: '1',
        correlation_id: '2',
      });
    const [refusal] = azure.refusals.splice(0, 1);
    if (refusal !== undefined) return void fail(...refusal);
    if (request.method !== 'POST' || request.url !== `/${tenant}/oauth2/v2.0/token`)
      return void fail(90002, 'invalid_request');
    const form = formOf(request, body);
    if (form?.client_assertion !== token() || audienceOf(token()) !== 'api://AzureADTokenExchange')
      return void fail(700213, 'invalid_client');
    const { client_assertion: _, ...rest } = form;
    const expected = {
      grant_type: 'client_credentials',
      client_id: clientID,
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      scope: 'https://containerregistry.azure.net/.default',
    };
    if (!isDeepStrictEqual(rest, expected)) return void fail(900144, 'invalid_request');
    const accessToken = issue(`entra-${randomUUID()}`);
    accessTokens.add(accessToken);
    answer(response, 200, {
      token_type: 'Bearer',
      expires_in: 3599,
      ext_expires_in: 3599,
      access_token: accessToken,
    });
  }

  function exchangeToken(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const [refusal] = azure.exchangeRefusals.splice(0, 1);
    if (refusal !== undefined) return void refuse(response, ...refusal);
    const form = formOf(request, body);
    const expected = { grant_type: 'access_token', service: registryHost, tenant };
    const { access_token: given = '', ...rest } = form ?? {};
    if (!isDeepStrictEqual(rest, expected) || !accessTokens.has(given))
      return void refuse(response, 401, 'UNAUTHORIZED', 'authentication required');
    const exp = Math.floor(Date.now() / 1000) + 3 * 3600;
    const refresh = issue(jwt({ jti: randomUUID(), aud: registryHost, exp, grant_type: 'refresh_token' }));
    refreshTokens.add(refresh);
    answer(response, 200, { refresh_token: refresh });
  }

  /** The token service: with a refresh token, or anonymously if anonymous pulls are allowed. */
  function giveToken(request: IncomingMessage, response: ServerResponse, body: Buffer, url: URL): void {
    const form = request.method === 'POST' ? formOf(request, body) : undefined;
    const anybody = request.method === 'GET' && request.headers.authorization === undefined;
    const known =
      form?.grant_type === 'refresh_token' &&
      form.service === registryHost &&
      refreshTokens.has(form.refresh_token ?? '');
    if (!known && !(anybody && azure.publicPull && url.searchParams.get('service') === registryHost))
      return void refuse(response, 401, 'UNAUTHORIZED', 'authentication required');
    const scopes = form === undefined ? url.searchParams.getAll('scope') : (form.scope ?? '').split(' ');
    const rights = scopes.flatMap((scope) => {
      const [, repository = '', actions = ''] = scope.split(':');
      return actions.split(',').map((action) => `${action} ${repository}`);
    });
    const given = issue(`registry-${randomUUID()}`);
    registryTokens.set(given, new Set(rights.filter((right) => known || right.startsWith('pull '))));
    answer(response, 200, { access_token: given });
  }

  function serve(request: IncomingMessage, response: ServerResponse, body: Buffer): void {
    const { method = '', headers } = request;
    const url = new URL(request.url ?? '', `https://${registryHost}`);
    if (url.pathname === '/oauth2/exchange' && method === 'POST')
      return void exchangeToken(request, response, body);
    if (url.pathname === '/oauth2/token') return void giveToken(request, response, body, url);
    const [, repository = ''] = /^\/v2\/(.+)\/(?:manifests|blobs|tags|referrers)\//.exec(url.pathname) ?? [];
    const action = method === 'GET' || method === 'HEAD' ? 'pull' : 'push';
    const rights = registryTokens.get((headers.authorization ?? '').replace(/^Bearer /, ''));
    if (rights?.has(`${action} ${repository}`) === true) {
      passOn(registry, replayed(request, body), response);
      return;
    }
    const realm = `Bearer realm="https://${registryHost}/oauth2/token",service="${registryHost}",scope="repository:${repository}:${action}"`;
    response.setHeader('www-authenticate', rights ? `${realm},error="insufficient_scope"` : realm);
    refuse(response, 401, 'UNAUTHORIZED', 'authentication required');
  }

  return azure;
}

function refuse(response: ServerResponse, status: number, code: string, message: string): void {
  answer(response, status, { errors: [{ code, message }] });
}
