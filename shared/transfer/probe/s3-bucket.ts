import type { IncomingHttpHeaders } from 'node:http';
import { inRegion, isAnywhere } from '#shared/domain/address';
import type { S3Credentials } from '../credentials/credentials.ts';
import { readBody } from '../http/body.ts';
import { s3Error } from '../s3/answers.ts';
import { createS3Signer } from '../s3/signer.ts';
import type { AuthenticatedReason, Finding } from './finding.ts';
import type { ProbeClient } from './probe-client.ts';

const regionName = /^[a-z0-9][a-z0-9-]{0,40}$/;

/** The region of the bucket, as reported by a storage. */
export function bucketRegion({ 'x-amz-bucket-region': named }: IncomingHttpHeaders): string | undefined {
  return typeof named === 'string' && regionName.test(named) ? named : undefined;
}

/**
 * Sends `get(url)`, and once more to the right region: an Endpoint with `s3://bucket` does not name a region, and AWS answers 301 in every other
 * region, without a challenge.
 */
export async function getInRegion<Answer extends { region: string | undefined }>(
  remoteURL: string,
  url: URL,
  get: (url: URL) => Promise<Answer>,
): Promise<{ url: URL; answer: Answer }> {
  const answer = await get(url);
  if (!isAnywhere(remoteURL) || answer.region === undefined) return { url, answer };
  const moved = inRegion(url, answer.region);
  return moved.host === url.host ? { url, answer } : { url: moved, answer: await get(moved) };
}

const answerLimit = 64 * 1024;
const refusals = [
  'InvalidAccessKeyId',
  'SignatureDoesNotMatch',
  'ExpiredToken',
  'InvalidToken',
  'TokenRefreshRequired',
];

/**
 * Tests the keys of an Endpoint by listing the bucket, which the account need not be allowed to do. A signature does not disclose the keys, so it
 * is sent without TLS too. Rejects with Node's own errors.
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
  if (status < 300) return { status: 'True', reason: 'Authenticated', message: `${host} accepted the keys` };
  if (code === 'AccessDenied') {
    const message = `${host} accepted the keys, which may not list the bucket`;
    return { status: 'True', reason: 'Authenticated', message };
  }
  return { status: 'Unknown', reason: 'Inconclusive', message: `${host} answered ${status} to the keys` };
}
