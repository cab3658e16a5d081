import { rm } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobEndpoint } from '#shared/domain';
import { seedImage, startRegistry } from '#shared/local';
import { openSession, registrySource } from '#shared/transfer';
import { type Aws, awsServices } from '../../../shared/transfer/testing/aws.ts';
import type { CloudService } from '../../../shared/transfer/testing/cloud.ts';
import { passOn, replayed } from '../../../shared/transfer/testing/front.ts';
import { type S3Server, startS3Server } from '../../../shared/transfer/testing/s3-server.ts';
import { imageLocation } from '../batch/chart-images.ts';
import { maker, runBundle } from '../bundle/testing/sides.ts';
import { end, image, type Pod, startPod } from './testing/pod.ts';

const role = 'arn:aws:iam::123456789012:role/arc';

let pod: Pod;
let storage: S3Server;
let aws: Aws;

beforeEach(async () => {
  pod = await startPod('sts.amazonaws.com', async ({ token, tokenFile, registry, keep }) => {
    storage = keep(await startS3Server());
    const behind = { registry: registry.url, storage: storage.url };
    aws = awsServices({ region: 'eu-central-1', role, token: () => token, ...behind });
    const env = {
      AWS_ROLE_ARN: role,
      AWS_WEB_IDENTITY_TOKEN_FILE: tokenFile,
      AWS_REGION: 'eu-central-1',
    };
    const region = 'us-west-2';
    const elsewhere: CloudService = (_, response) =>
      response.writeHead(301, { 'x-amz-bucket-region': region }).end();
    const there: CloudService = (request, response, body) => {
      const { url = '/', headers } = request;
      if (headers.authorization?.includes(`/${region}/s3/`) === true)
        passOn(storage.url, replayed(request, body, `/mirror${url}`), response);
      else response.writeHead(403).end();
    };
    const buckets = {
      'far.s3.eu-central-1.amazonaws.com': elsewhere,
      'far.s3.us-west-2.amazonaws.com': there,
      'lost.s3.eu-central-1.amazonaws.com': elsewhere,
      'lost.s3.us-west-2.amazonaws.com': elsewhere,
    };
    return { services: { ...aws.services, ...buckets }, env };
  });
});
afterEach(() => pod.close());

const ecr = (more?: Partial<JobEndpoint>) => end('oci', `https://${aws.registryHost}`, more);
const inner = () => end('oci', pod.registry.url);
const sts = 'sts.eu-central-1.amazonaws.com';
const api = 'api.ecr.eu-central-1.amazonaws.com';

describe('a worker with a role of AWS', () => {
  it('copies between private registries, with one password for both', async () => {
    const { digest } = await seedImage(pod.registry, 'team/app', '1.0');
    expect((await pod.move(image, ecr(), ecr())).digest).toBe(digest);
    expect([...pod.registry.contents.keys()]).toContain('mirror/app');
    expect([pod.asked(sts), pod.asked(api)]).toEqual([1, 1]);
    expect(pod.cloud.strangers).toEqual([]);
  });

  it('moves files into and out of a bucket', async () => {
    storage.objects.set('/mirror/in/a.bin', { bytes: Buffer.from('hello'), etag: '"1"', headers: {} });
    const bucket = end('s3', `https://${aws.bucketHost}`);
    const file = { type: 'file', spec: { path: 'in/a.bin', override: 'out/b.bin' } };
    await pod.move(file, bucket, bucket);
    const other = pod.keep(await startS3Server());
    await pod.move(file, bucket, end('s3', `${other.url}/mirror`));
    await pod.move(
      { type: 'file', spec: { path: 'out/b.bin', override: 'c.bin' } },
      end('s3', `${other.url}/mirror`),
      bucket,
    );
    expect(storage.objects.get('/mirror/c.bin')?.bytes.toString()).toBe('hello');
    expect(pod.asked(sts)).toBe(3);
  });

  it.each(['s3://mirror/out', `https://mirror.s3.eu-central-1.amazonaws.com/out`])(
    'takes a bundle to %s and back',
    async (remoteURL) => {
      const { digest } = await seedImage(pod.registry, 'team/app', '1.0');
      const { sign, trust } = maker;
      const bundles = end('bundle', remoteURL, { keys: { sign, trust } });
      const options = { proxyEnv: pod.env, identityEnv: pod.env };
      const spec = { name: 'first', contents: [{ image: 'team/app:1.0' }] };
      const order = { artifact: { type: 'bundle-export', spec }, source: inner(), destination: bundles };
      await runBundle(pod.folder, order, 'out', options);
      const other = pod.keep(await startRegistry());
      const carried = { artifact: { type: 'bundle-import', spec: { name: 'first' } }, source: bundles };
      await runBundle(pod.folder, { ...carried, destination: end('oci', other.url) }, 'in', options);
      expect(other.contents.get('team/app')?.tags.get('1.0')).toBe(digest);
    },
  );

  it('reaches s3://bucket in its own region, and in the region that the bucket reports', async () => {
    storage.objects.set('/mirror/a.bin', { bytes: Buffer.from('hello'), etag: '"1"', headers: {} });
    const file = (path: string, override: string) => ({ type: 'file', spec: { path, override } });
    await pod.move(file('a.bin', 'b.bin'), end('s3', 's3://mirror'), end('s3', 's3://far'));
    await pod.move(file('b.bin', 'c.bin'), end('s3', 's3://far'), end('s3', 's3://mirror'));
    expect(storage.objects.get('/mirror/c.bin')?.bytes.toString()).toBe('hello');
    expect(pod.cloud.strangers).toEqual([]);
  });

  it.each(['https://far.s3.eu-central-1.amazonaws.com', 's3://lost'])(
    'reports the region of a bucket elsewhere: %s',
    async (remoteURL) => {
      const file = { type: 'file', spec: { path: 'a.bin', override: 'b.bin' } };
      await expect(pod.move(file, end('s3', remoteURL), end('s3', 's3://mirror'))).rejects.toMatchObject({
        reason: 'config',
        message: expect.stringContaining('the bucket is in region us-west-2'),
      });
    },
  );

  it('sends no credentials to servers outside of AWS, nor to an Endpoint with TLS settings', async () => {
    await seedImage(pod.registry, 'team/app', '1.0');
    const hosts = ['evil.example', `${aws.registryHost}.evil.example`, 'x.elb.eu-central-1.amazonaws.com'];
    for (const source of [
      ...hosts.map((host) => end('oci', `https://${host}`)),
      ecr({ remoteURL: `https://${aws.registryHost}:8443` }),
      ecr({ tls: { insecureSkipVerify: true } }),
      ecr({ tls: { ca: pod.authority.cert } }),
    ])
      await expect(pod.move(image, source, inner())).rejects.toThrow();
    expect([pod.asked(sts), pod.asked(api)]).toEqual([0, 0]);
    await expect(pod.move(image, ecr({ tls: { ca: pod.authority.cert } }), inner())).rejects.toThrow(
      'an Endpoint with spec.tls does not use the identity of AWS',
    );
  });

  it("does not use it for a chart's images in registries other than the Endpoint's", async () => {
    const found = { host: aws.registryHost, repository: 'team/app', tag: '1.0', written: 'private' };
    await seedImage(pod.registry, 'team/app', '1.0');
    const { signal } = new AbortController();
    const session = openSession({ retry: { attempts: 1 }, proxyEnv: pod.env, identityEnv: pod.env });
    const named = (charts: JobEndpoint) => ({ ...charts, redirectHosts: [aws.registryHost] });
    const read = (charts: JobEndpoint) =>
      registrySource(session.repository(imageLocation(found, named(charts), undefined), 'pull')).root(signal);
    try {
      const credentials = { username: 'u', password: 'p' };
      for (const more of [{}, { credentials }, { tls: { ca: pod.authority.cert } }])
        await expect(read(end('helm', 'https://charts.example.com', more))).rejects.toThrow(
          'a Secret with .dockerconfigjson',
        );
      expect([pod.asked(sts), pod.asked(api)]).toEqual([0, 0]);
      await read(ecr());
      expect([pod.asked(sts), pod.asked(api)]).toEqual([1, 1]);
    } finally {
      session.close();
    }
  });

  it('prefers what the Secret of the Endpoint holds', async () => {
    const credentials = { username: 'AWS', password: 'old-password' };
    const refused = pod.move(image, ecr({ credentials }), inner());
    await expect(refused).rejects.toMatchObject({
      reason: 'auth',
      message: expect.stringContaining('user "AWS"'),
    });
    expect(pod.asked(sts)).toBe(0);
  });

  it.each([
    [403, 'AccessDenied', 'system:serviceaccount:demo:arc-workflow'],
    [400, 'InvalidIdentityToken', 'account 123456789012 does not trust the issuer'],
    [400, 'ExpiredTokenException', 'check the clock'],
    [400, 'ValidationError', 'check the configuration of its ServiceAccount'],
  ])('explains why the role cannot be assumed: %d %s', async (status, code, words) => {
    aws.refusals.push([status, code, 'no']);
    const failed = pod.move(image, ecr(), inner());
    await expect(failed).rejects.toMatchObject({ reason: 'auth', message: expect.stringContaining(words) });
    await expect(failed).rejects.toThrow(role);
    await expect(failed).rejects.not.toThrow(pod.token);
  });

  it('retries transient failures', async () => {
    await seedImage(pod.registry, 'team/app', '1.0');
    aws.refusals.push([400, 'IDPCommunicationError', 'no'], [503, 'ServiceUnavailable', 'no']);
    await pod.move(image, ecr(), inner(), 3);
    expect(pod.asked(sts)).toBe(3);
  });

  it('reports a missing token file', async () => {
    await rm(pod.tokenFile);
    await expect(pod.move(image, ecr(), inner())).rejects.toMatchObject({
      reason: 'config',
      message: expect.stringContaining('AWS_WEB_IDENTITY_TOKEN_FILE'),
    });
  });
});

it('a worker without an identity reports it', async () => {
  for (const name of Object.keys(pod.env)) if (name !== 'HTTPS_PROXY') delete pod.env[name];
  await expect(pod.move(image, ecr(), inner())).rejects.toMatchObject({
    reason: 'auth',
    message: expect.stringContaining(
      'it names no Secret (spec.secretRef), and the worker has no identity of AWS',
    ),
  });
});
