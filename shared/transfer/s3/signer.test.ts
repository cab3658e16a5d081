import { describe, expect, it } from 'vitest';
import { createS3Signer } from './signer.ts';

const { signal } = new AbortController();

// The keys and the signatures of the examples in docs.aws.amazon.com, "Authenticating Requests: Using the Authorization Header".
const keys = {
  accessKeyID: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
};
const now = () => Date.UTC(2013, 4, 24);
const bucket = 'https://examplebucket.s3.amazonaws.com';

describe('signature version 4', () => {
  it.each([
    [
      'GET',
      '/test.txt',
      { range: 'bytes=0-9' },
      'host;range;x-amz-content-sha256;x-amz-date',
      'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    ],
    [
      'PUT',
      '/test%24file.text',
      { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
      'date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class',
      '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    ],
    [
      'GET',
      '/?lifecycle=',
      {},
      'host;x-amz-content-sha256;x-amz-date',
      'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    ],
    [
      'GET',
      '/?max-keys=2&prefix=J',
      {},
      'host;x-amz-content-sha256;x-amz-date',
      '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    ],
  ] as const)('of %s %s is the one that AWS publishes', async (method, path, headers, signed, signature) => {
    const bodyHash = '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072';
    const body = method === 'PUT' ? { body: () => Buffer.from('Welcome to Amazon S3.'), bodyHash } : {};
    const url = new URL(path, bucket);
    const made = await createS3Signer(keys, 'us-east-1', now).headers(
      { method, url, headers, expect: [], activity: '', ...body },
      signal,
    );
    expect(made.authorization).toBe(
      `AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, SignedHeaders=${signed}, Signature=${signature}`,
    );
  });

  it('signs the session token and no header that a proxy may change', async () => {
    const signer = createS3Signer({ ...keys, sessionToken: 'a-session-token' }, 'us-east-1', now);
    const headers = { 'user-agent': 'arc', 'content-length': '5' };
    const made = await signer.headers(
      { method: 'GET', url: new URL(bucket), headers, expect: [], activity: '' },
      signal,
    );
    expect(made['x-amz-security-token']).toBe('a-session-token');
    expect(made.authorization).toContain(
      'SignedHeaders=host;x-amz-content-sha256;x-amz-date;x-amz-security-token,',
    );
  });

  it('is omitted without keys', async () => {
    const signer = createS3Signer(undefined);
    const request = { method: 'GET', url: new URL(bucket), expect: [], activity: '' } as const;
    expect(await signer.headers(request, signal)).toEqual({});
  });
});

it('without keys learns the region of the bucket, and nothing from a refusal', () => {
  const signer = createS3Signer(undefined, 'us-east-1', now);
  const headers = { 'x-amz-bucket-region': 'eu-west-3' };
  expect(signer.learn(403, headers, Buffer.alloc(0))).toBe(false);
  expect(signer.region).toBe('us-east-1');
  expect(signer.learn(301, headers, Buffer.alloc(0))).toBe(true);
  expect(signer.region).toBe('eu-west-3');
  expect(signer.learn(301, headers, Buffer.alloc(0))).toBe(false);
});
