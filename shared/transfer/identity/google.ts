import type { Masker } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import { secretsOf } from '../credentials/credentials.ts';
import type { LentCredentials } from '../credentials/docker-config.ts';
import type { Lent } from '../credentials/kept.ts';
import type { Advice } from '../http/file-failures.ts';
import type { HttpClient } from '../http/http-client.ts';
import { exchange, unusable } from './exchange.ts';
import { type GoogleConfig, jwtType, readGoogleConfig, tokenURL } from './google-config.ts';
import { jsonOf, readPodToken } from './pod-token.ts';

/** What a pod is somebody for Google with. */
export interface GoogleContext {
  /** The file that GOOGLE_APPLICATION_CREDENTIALS names. */
  file: string;
  client: HttpClient;
  masker: Masker;
  /** Is told who the pod is for Google, in the words of messages. */
  named: (owner: string) => void;
}

const scope = 'https://www.googleapis.com/auth/cloud-platform';

/**
 * User and password for the registries of Google, for the token of the pod's ServiceAccount: an access token of the Security Token Service
 * (workload identity federation), or of the service account that the pod may act as. Rejects with a TransferError.
 */
export async function registryPassword(
  context: GoogleContext,
  signal: AbortSignal,
): Promise<Lent<LentCredentials>> {
  const config = await readGoogleConfig(context.file);
  const pod = await readPodToken(
    config.tokenFile,
    'credential_source.file in GOOGLE_APPLICATION_CREDENTIALS',
  );
  context.masker.add(pod.token);
  // As whom IAM knows it, if the provider maps google.subject to assertion.sub.
  const principal = `principal://iam.googleapis.com/${config.pool}/subject/${pod.subject}`;
  const { serviceAccount } = config;
  context.named(serviceAccount === undefined ? principal : `service account ${serviceAccount}`);
  const own = await federated(context, config, { token: pod.token, principal }, signal);
  const { value, expires } =
    serviceAccount === undefined
      ? own
      : await actingAs(context, serviceAccount, { token: own.value, principal }, signal);
  const password = { kind: 'basic', username: 'oauth2accesstoken', password: value } as const;
  for (const secret of secretsOf(password)) context.masker.add(secret);
  return { value: password, expires };
}

/** Somebody, and what proves it. */
interface Proof {
  token: string;
  principal: string;
}

/** The access token of the pod itself: https://cloud.google.com/iam/docs/reference/sts/rest/v1/TopLevel/token. */
async function federated(
  { client, masker }: GoogleContext,
  { audience }: GoogleConfig,
  { token, principal }: Proof,
  signal: AbortSignal,
): Promise<Lent<string>> {
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

/** The access token of a service account, for an hour: generateAccessToken of the IAM Service Account Credentials API. */
async function actingAs(
  { client, masker }: GoogleContext,
  serviceAccount: string,
  { token, principal }: Proof,
  signal: AbortSignal,
): Promise<Lent<string>> {
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
    const text = `there is no provider ${audience}, or it is disabled: check audience in the file that GOOGLE_APPLICATION_CREDENTIALS names`;
    return { reason: 'auth', text };
  }
  if (code === 'invalid_grant') {
    const text = `the provider does not take the token of the pod: the issuer of provider ${audience} must be that of the cluster, with its keys, and its allowed audiences must have the one of the token`;
    return { reason: 'auth', text };
  }
  if (code === 'unauthorized_client') {
    const text = `the attribute condition of provider ${audience} does not let the ServiceAccount in: change the condition`;
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
    const text = `there is no service account ${serviceAccount}: check service_account_impersonation_url in the file that GOOGLE_APPLICATION_CREDENTIALS names`;
    return { quote, advice: { reason: 'auth', text } as const };
  }
  return { quote };
}
