import type { IncomingHttpHeaders } from 'node:http';
import type { S3Credentials } from '../credentials/credentials.ts';
import { readBody } from '../http/body.ts';
import { s3Error } from '../s3/answers.ts';
import { createS3Signer } from '../s3/signer.ts';
import type { AuthenticatedReason, Finding } from './finding.ts';
import type { ProbeClient } from './probe-client.ts';

const answerLimit = 64 * 1024;
const refusals = [
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'ExpiredToken',
  'InvalidToken',
  'TokenRefreshRequired',
];

/**
 * Whether a storage takes the keys of an Endpoint: it is asked for the list of the bucket, which the account may be allowed to get or not.
 * A signature tells nobody the keys, so it is sent without TLS too. Rejects with Node's own errors.
 */
export async function s3KeysFinding(
  keys: S3Credentials,
  endpoint: string,
  client: ProbeClient,
  at: URL,
  signal: AbortSignal,
): Promise<Finding<AuthenticatedReason>> {
  const url = new URL(at);
  url.search = 'list-type=2&max-keys=1';
  const signer = createS3Signer(keys, keys.region);
  const ask = async (): Promise<{ status: number; headers: IncomingHttpHeaders; bytes: Buffer }> => {
    const request = { method: 'GET', url, headers: { connection: 'close' }, signal } as const;
    const signed = await signer.headers({ ...request, expect: [], activity: '' }, signal);
    const { status, headers, body } = await client.send({
      ...request,
      headers: { ...request.headers, ...signed },
    });
    return { status, headers, bytes: (await readBody(body, answerLimit)) ?? Buffer.alloc(0) };
  };
  let { status, headers, bytes } = await ask();
  if (signer.learn(status, headers, bytes)) ({ status, headers, bytes } = await ask());
  const code = s3Error(bytes)?.code ?? '';
  const { host } = url;
  if (refusals.includes(code) || status === 401) {
    const message = `${host} refused the keys (${code || status}): check the Secret of Endpoint "${endpoint}"`;
    return { status: 'False', reason: 'Unauthorized', message };
  }
  if (status < 300) return { status: 'True', reason: 'Authenticated', message: `${host} took the keys` };
  if (code === 'AccessDenied') {
    const message = `${host} took the keys, which may not list the bucket`;
    return { status: 'True', reason: 'Authenticated', message };
  }
  return { status: 'Unknown', reason: 'Inconclusive', message: `${host} answered ${status} to the keys` };
}
