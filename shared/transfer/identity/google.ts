import type { Masker } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import type { Expiring } from '../credentials/cached-credentials.ts';
import { secretsOf } from '../credentials/credentials.ts';
import type { IssuedCredentials } from '../credentials/docker-config.ts';
import type { Advice } from '../http/file-failures.ts';
import type { HttpClient } from '../http/http-client.ts';
import { exchange, unusable } from './exchange.ts';
import { type GoogleConfig, jwtType, readGoogleConfig, tokenURL } from './google-config.ts';
import { jsonOf, readPodToken } from './pod-token.ts';

/** The inputs of obtaining a Google identity. */
export interface GoogleContext {
  /** The file in GOOGLE_APPLICATION_CREDENTIALS. */
  file: string;
  client: HttpClient;
  masker: Masker;
  /** Called with the name of the identity, for messages. */
  named: (owner: string) => void;
}

const scope = 'https://www.googleapis.com/auth/cloud-platform';

/**
 * Exchanges the token of the pod's ServiceAccount for user and password of Google's registries: an access token of the Security Token Service
 * (workload identity federation), or of the impersonated service account. Rejects with a TransferError.
 */
export async function registryPassword(
  context: GoogleContext,
  signal: AbortSignal,
): Promise<Expiring<IssuedCredentials>> {
  const config = await readGoogleConfig(context.file);
  const pod = await readPodToken(
    config.tokenFile,
    'credential_source.file in GOOGLE_APPLICATION_CREDENTIALS',
  );
  context.masker.add(pod.token);
  // IAM's name of the pod, if the provider maps google.subject to assertion.sub.
  const principal = `principal://iam.googleapis.com/${config.pool}/subject/${pod.subject}`;
  const { serviceAccount } = config;
  context.named(serviceAccount === undefined ? principal : `service account ${serviceAccount}`);
  const own = await federatedToken(context, config, { token: pod.token, principal }, signal);
  const { value, expires } =
    serviceAccount === undefined
      ? own
      : await impersonate(context, serviceAccount, { token: own.value, principal }, signal);
  const password = { kind: 'basic', username: 'oauth2accesstoken', password: value } as const;
  for (const secret of secretsOf(password)) context.masker.add(secret);
  return { value: password, expires };
}

/** A token and the principal that it belongs to. */
interface Proof {
  token: string;
  principal: string;
}

/** Exchanges the pod's token for a federated access token: https://cloud.google.com/iam/docs/reference/sts/rest/v1/TopLevel/token. */
async function federatedToken(
  { client, masker }: GoogleContext,
  { audience }: GoogleConfig,
  { token, principal }: Proof,
  signal: AbortSignal,
): Promise<Expiring<string>> {
  const form = {
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    audience,
    scope,
    requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    subject_token: token,
    subject_token_type: jwtType,
  };
  const request = {
    activity: `exchanging the token of ${principal}`,
    url: tokenURL,
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
    body: new URLSearchParams(form).toString(),
    explain: (body: Buffer) => exchangeRefusal(body, audience),
  };
  const { access_token: value, expires_in: seconds } = jsonOf(await exchange(client, request, signal));
  if (typeof value !== 'string' || value === '' || typeof seconds !== 'number') throw unusable(request);
  masker.add(value);
  return { value, expires: Date.now() + seconds * 1000 };
}

/** Returns an access token of a service account, valid for an hour: generateAccessToken of the IAM Service Account Credentials API. */
async function impersonate(
  { client, masker }: GoogleContext,
  serviceAccount: string,
  { token, principal }: Proof,
  signal: AbortSignal,
): Promise<Expiring<string>> {
  const request = {
    activity: `getting a token of service account ${serviceAccount} as ${principal}`,
    url: `https://iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/${serviceAccount}:generateAccessToken`,
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json',
    },
    body: JSON.stringify({ scope: [scope] }),
    explain: (body: Buffer) => actingRefusal(body, serviceAccount, principal),
  };
  const { accessToken: value, expireTime = '' } = jsonOf(await exchange(client, request, signal));
  const expires = typeof expireTime === 'string' ? Date.parse(expireTime) : Number.NaN;
  if (typeof value !== 'string' || value === '' || Number.isNaN(expires)) throw unusable(request);
  masker.add(value);
  return { value, expires };
}

function exchangeAdvice(code: string, audience: string): Advice | undefined {
  if (code === 'invalid_target') {
    const text = `provider ${audience} does not exist or is disabled: check audience in the file of GOOGLE_APPLICATION_CREDENTIALS`;
    return { reason: 'auth', text };
  }
  if (code === 'invalid_grant') {
    const text = `the provider rejects the pod's token: provider ${audience} must have the issuer and the keys of the cluster, and the token's audience among its allowed audiences`;
    return { reason: 'auth', text };
  }
  if (code === 'unauthorized_client') {
    const text = `the attribute condition of provider ${audience} rejects the ServiceAccount: change the condition`;
    return { reason: 'auth', text };
  }
  return undefined;
}

function exchangeRefusal(body: Buffer, audience: string) {
  const { error, error_description: description } = jsonOf(body);
  if (typeof error !== 'string') return undefined;
  const advice = exchangeAdvice(error, audience);
  const quote = typeof description === 'string' ? `${error}: ${description}` : error;
  return { quote, ...(advice && { advice }) };
}

function actingRefusal(body: Buffer, serviceAccount: string, principal: string) {
  const { error } = jsonOf(body);
  const { status, message } = isRecord(error) ? error : {};
  if (typeof status !== 'string') return undefined;
  const quote = typeof message === 'string' ? `${status}: ${message}` : status;
  if (status === 'PERMISSION_DENIED') {
    const text = `grant roles/iam.workloadIdentityUser on service account ${serviceAccount} to ${principal}`;
    return { quote, advice: { reason: 'auth', text } as const };
  }
  if (status === 'NOT_FOUND') {
    const text = `service account ${serviceAccount} does not exist: check service_account_impersonation_url in the file of GOOGLE_APPLICATION_CREDENTIALS`;
    return { quote, advice: { reason: 'auth', text } as const };
  }
  return { quote };
}
