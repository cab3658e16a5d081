import { AwsV4Signer } from 'aws4fetch';
import type { Masker } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import type { Expiring } from '../credentials/cached-credentials.ts';
import type { S3Credentials } from '../credentials/credentials.ts';
import type { IssuedCredentials } from '../credentials/docker-config.ts';
import type { Advice } from '../http/file-failures.ts';
import type { HttpClient } from '../http/http-client.ts';
import { elements, rootOf, textOf } from '../http/xml.ts';
import { type AwsRole, regionOf } from './aws-role.ts';
import { busy, exchange, unusable } from './exchange.ts';
import { jsonOf, type PodToken, readPodToken } from './pod-token.ts';

/** The inputs of assuming an AWS role. */
export interface AwsContext {
  role: AwsRole;
  client: HttpClient;
  masker: Masker;
}

/** Exchanges the token of the pod's ServiceAccount for keys of the role: AssumeRoleWithWebIdentity of AWS STS. Rejects with a TransferError. */
export async function assumeRole(
  { role, client, masker }: AwsContext,
  signal: AbortSignal,
): Promise<Expiring<S3Credentials>> {
  const pod = await readPodToken(role.tokenFile, 'AWS_WEB_IDENTITY_TOKEN_FILE');
  masker.add(pod.token);
  const form = {
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: role.arn,
    RoleSessionName: 'arc-transfer',
    WebIdentityToken: pod.token,
  };
  const request = {
    activity: `assuming role ${role.arn} as ${pod.subject}`,
    url: `https://sts.${regionOf(role)}.${role.domain}/`,
    headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/xml' },
    body: new URLSearchParams(form).toString(),
    explain: (body: Buffer) => stsRefusal(body, role, pod),
  };
  const answer = rootOf(await exchange(client, request, signal));
  const result = elements(answer, 'AssumeRoleWithWebIdentityResult')[0];
  const given = elements(result, 'Credentials')[0];
  const [accessKeyID, secretAccessKey, sessionToken, expiration = ''] = [
    'AccessKeyId',
    'SecretAccessKey',
    'SessionToken',
    'Expiration',
  ].map((name) => textOf(given, name));
  const expires = Date.parse(expiration);
  if (!accessKeyID || !secretAccessKey || !sessionToken || Number.isNaN(expires)) throw unusable(request);
  masker.add(secretAccessKey);
  masker.add(sessionToken);
  return { value: { accessKeyID, secretAccessKey, sessionToken }, expires };
}

/** Returns user and password for the private registries of a region: GetAuthorizationToken of ECR. Rejects with a TransferError. */
export async function registryPassword(
  { role, client, masker }: AwsContext,
  region: string,
  keys: S3Credentials,
  signal: AbortSignal,
): Promise<Expiring<IssuedCredentials>> {
  const url = `https://api.ecr.${region}.${role.domain}/`;
  const { accessKeyID: accessKeyId, secretAccessKey, sessionToken = '' } = keys;
  const target = 'AmazonEC2ContainerRegistry_V20150921.GetAuthorizationToken';
  const headers = { 'content-type': 'application/x-amz-json-1.1', 'x-amz-target': target };
  const body = '{}';
  const signer = new AwsV4Signer({
    method: 'POST',
    url,
    headers,
    body,
    service: 'ecr',
    region,
    accessKeyId,
    secretAccessKey,
    sessionToken,
  });
  const signed = Object.fromEntries((await signer.sign()).headers);
  const activity = `getting a password for the registries of ${region} with role ${role.arn}`;
  const request = { activity, url, headers: signed, body, explain: (text: Buffer) => ecrRefusal(text, role) };
  const { authorizationData } = jsonOf(await exchange(client, request, signal));
  const data: unknown = Array.isArray(authorizationData) ? authorizationData[0] : undefined;
  const { authorizationToken, expiresAt } = isRecord(data) ? data : {};
  if (typeof authorizationToken !== 'string' || typeof expiresAt !== 'number') throw unusable(request);
  const [, username, password] =
    /^([^:]+):(.+)$/s.exec(Buffer.from(authorizationToken, 'base64').toString('utf8')) ?? [];
  if (username === undefined || password === undefined) throw unusable(request);
  masker.add(authorizationToken);
  masker.add(password);
  return { value: { kind: 'basic', username, password }, expires: expiresAt * 1000 };
}

/** Advice for STS error codes whose status is not specific. */
function stsAdvice(code: string, { arn, account }: AwsRole, { subject }: PodToken): Advice | undefined {
  if (code === 'AccessDenied')
    return {
      reason: 'auth',
      text: `the role does not trust the pod: the trust policy of ${arn} must allow sts:AssumeRoleWithWebIdentity to ${subject}, with the audience sts.amazonaws.com`,
    };
  if (code === 'InvalidIdentityToken')
    return {
      reason: 'auth',
      text: `account ${account} does not trust the issuer of the pod's token: register the cluster as an OIDC identity provider of that account, for the audience sts.amazonaws.com`,
    };
  if (code === 'ExpiredTokenException')
    return { reason: 'auth', text: 'the token of the pod has expired: check the clock of the node' };
  if (code === 'IDPCommunicationError' || code.startsWith('Throttling')) return busy;
  return undefined;
}

function stsRefusal(body: Buffer, role: AwsRole, pod: PodToken) {
  const error = elements(rootOf(body), 'Error')[0];
  const code = textOf(error, 'Code');
  if (code === undefined) return undefined;
  const advice = stsAdvice(code, role, pod);
  return { quote: `${code}: ${textOf(error, 'Message') ?? ''}`, ...(advice && { advice }) };
}

function ecrRefusal(body: Buffer, { arn }: AwsRole) {
  const { __type: type, message, Message } = jsonOf(body);
  if (typeof type !== 'string') return undefined;
  const code = type.slice(type.lastIndexOf('#') + 1);
  const quote = [code, message ?? Message].filter((text) => typeof text === 'string').join(': ');
  const text = `grant ecr:GetAuthorizationToken to role ${arn}`;
  if (code === 'AccessDeniedException') return { quote, advice: { reason: 'auth', text } as const };
  if (code === 'ServerException' || code.startsWith('Throttling')) return { quote, advice: busy };
  return { quote };
}
