import { type Masker, printable } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import type { Expiring } from '../credentials/cached-credentials.ts';
import type { IssuedCredentials } from '../credentials/docker-config.ts';
import { TransferError } from '../errors/transfer-error.ts';
import type { Advice } from '../http/file-failures.ts';
import type { HttpClient } from '../http/http-client.ts';
import { type AzureClient, loginHosts, nameOf } from './azure-client.ts';
import { exchange, unusable } from './exchange.ts';
import type { AzureDomain } from './hosts.ts';
import { claimsOf, jsonOf, type PodToken, readPodToken } from './pod-token.ts';

/** The inputs of signing in to Azure. */
export interface AzureContext {
  azure: AzureClient;
  client: HttpClient;
  masker: Masker;
}

/** An Azure container registry. */
export interface AzureRegistry {
  host: string;
  domain: AzureDomain;
}

const formType = { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' };

/**
 * Exchanges the token of the pod's ServiceAccount for a Microsoft Entra token, and that for a refresh token of the registry
 * (https://azure.github.io/acr/AAD-OAuth.html). Rejects with a TransferError.
 */
export async function registryToken(
  context: AzureContext,
  registry: AzureRegistry,
  signal: AbortSignal,
): Promise<Expiring<IssuedCredentials>> {
  const { azure, client, masker } = context;
  const accessToken = await signIn(context, registry, signal);
  const { host } = registry;
  const form = { grant_type: 'access_token', service: host, tenant: azure.tenant, access_token: accessToken };
  const request = {
    activity: `getting a token for it as ${nameOf(azure)}`,
    url: `https://${host}/oauth2/exchange`,
    headers: formType,
    body: new URLSearchParams(form).toString(),
    explain: (body: Buffer) => registryRefusal(body, azure),
  };
  const { refresh_token: token } = jsonOf(await exchange(client, request, signal));
  if (typeof token !== 'string' || token === '') throw unusable(request);
  masker.add(token);
  const { exp } = claimsOf(token);
  if (typeof exp !== 'number') throw unusable(request);
  return { value: { kind: 'identity', token }, expires: exp * 1000 };
}

async function signIn(
  { azure, client, masker }: AzureContext,
  { domain }: AzureRegistry,
  signal: AbortSignal,
): Promise<string> {
  const login = loginHosts[domain];
  requireAuthority(azure.authority, login, domain);
  const pod = await readPodToken(azure.tokenFile, 'AZURE_FEDERATED_TOKEN_FILE');
  masker.add(pod.token);
  const form = {
    grant_type: 'client_credentials',
    client_id: azure.id,
    client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    client_assertion: pod.token,
    // Limited to registries: a registry need not accept a token for all of Azure, and such a token could do more.
    scope: 'https://containerregistry.azure.net/.default',
  };
  const request = {
    activity: `signing in as ${nameOf(azure)} with the token of ${pod.subject}`,
    url: `https://${login}/${azure.tenant}/oauth2/v2.0/token`,
    headers: formType,
    body: new URLSearchParams(form).toString(),
    explain: (body: Buffer) => loginRefusal(body, azure, pod),
  };
  const { access_token: token } = jsonOf(await exchange(client, request, signal));
  if (typeof token !== 'string' || token === '') throw unusable(request);
  masker.add(token);
  return token;
}

/** Rejects a foreign authority: the pod's token is sent only to Microsoft's own hosts, whatever the environment says. */
function requireAuthority(authority: string, login: string, domain: string): void {
  if (authority.replace(/\/+$/, '') === `https://${login}`) return;
  const text = `AZURE_AUTHORITY_HOST of the worker is "${printable(authority).slice(0, 200)}", but tokens for registries of ${domain} are issued only by https://${login}/: correct it, or name a Secret in spec.secretRef of the Endpoint.`;
  throw new TransferError('config', text);
}

/** Advice for Microsoft Entra's error numbers, whose status is not specific. */
function loginAdvice(code: unknown, azure: AzureClient, { subject }: PodToken): Advice | undefined {
  switch (code) {
    case 70021:
    case 700211:
    case 700212:
    case 700213: {
      const text = `the client does not trust the pod: give ${nameOf(azure)} a federated credential with the issuer of the cluster, the subject ${subject} and the audience api://AzureADTokenExchange`;
      return { reason: 'auth', text };
    }
    case 700016: {
      const text = `the tenant does not have this client: check azure.workload.identity/client-id of the ServiceAccount, for ${subject}`;
      return { reason: 'auth', text };
    }
    case 90002: {
      const text = `the tenant does not exist: check azure.workload.identity/tenant-id of the ServiceAccount, for ${subject}`;
      return { reason: 'auth', text };
    }
    case 700024:
      return {
        reason: 'auth',
        text: 'the token of the pod is not valid at this time: check the clock of the node',
      };
    default:
      return undefined;
  }
}

function loginRefusal(body: Buffer, azure: AzureClient, pod: PodToken) {
  const { error, error_description: description, error_codes: codes } = jsonOf(body);
  if (typeof error !== 'string') return undefined;
  // Further lines hold trace numbers for Microsoft's support.
  const [said = ''] = typeof description === 'string' ? description.split(/[\r\n]/, 1) : [];
  const [advice] = (Array.isArray(codes) ? codes : []).flatMap((code) => loginAdvice(code, azure, pod) ?? []);
  return { quote: said === '' ? error : `${error}: ${said}`, ...(advice && { advice }) };
}

function registryRefusal(body: Buffer, azure: AzureClient) {
  const { errors } = jsonOf(body);
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined;
  const { code, message } = isRecord(first) ? first : {};
  if (typeof code !== 'string') return undefined;
  const quote = typeof message === 'string' ? `${code}: ${message}` : code;
  if (code === 'UNAUTHORIZED') {
    const text = `grant ${nameOf(azure)} the role AcrPull of the registry, and AcrPush to write`;
    return { quote, advice: { reason: 'auth', text } as const };
  }
  if (code === 'DENIED') {
    const text = `the registry denies the worker's network: check its network rules`;
    return { quote, advice: { reason: 'denied', text } as const };
  }
  return { quote };
}
