import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import tls from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Job, JobEndpoint } from '#shared/domain';
import { type Registry, seedImage, startRegistry } from '#shared/embedded';
import { createAuthority } from '../../../shared/testing/authority.ts';
import { type Aws, awsServices } from '../../../shared/transfer/testing/aws.ts';
import { type Cloud, startCloud } from '../../../shared/transfer/testing/cloud.ts';
import { podToken } from '../../../shared/transfer/testing/pod-token.ts';
import { type S3Server, startS3Server } from '../../../shared/transfer/testing/s3-server.ts';
import { transferJob } from '../transfer-job.ts';

const role = 'arn:aws:iam::123456789012:role/arc';
const authority = await createAuthority('clouds');
const trusted = tls.getCACertificates('default');
beforeAll(() => tls.setDefaultCACertificates([...trusted, authority.cert]));
afterAll(() => tls.setDefaultCACertificates(trusted));

const stack: { close(): Promise<void> }[] = [];
function kept<T extends { close(): Promise<void> }>(server: T): T {
  stack.push(server);
  return server;
}

let folder = '';
let env: Record<string, string> = {};
let token = '';
let registry: Registry;
let storage: S3Server;
let aws: Aws;
let cloud: Cloud;

async function start(): Promise<void> {
  const behind = { registry: registry.url, storage: storage.url };
  aws = awsServices({ region: 'eu-central-1', role, token: () => token, ...behind });
  cloud = kept(await startCloud(aws.services, authority));
  env = {
    AWS_ROLE_ARN: role,
    AWS_WEB_IDENTITY_TOKEN_FILE: path.join(folder, 'token'),
    AWS_REGION: 'eu-central-1',
    HTTPS_PROXY: cloud.proxy,
  };
}

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'arc-identity-'));
  token = podToken('system:serviceaccount:demo:arc-workflow');
  await writeFile(path.join(folder, 'token'), `${token}\n`);
  registry = kept(await startRegistry());
  storage = kept(await startS3Server());
  await start();
});
afterEach(async () => {
  await Promise.all(stack.splice(0).map((server) => server.close()));
  await rm(folder, { recursive: true });
});

const end = (type: string, remoteURL: string, more: Partial<JobEndpoint> = {}): JobEndpoint => ({
  name: `${type} of ${new URL(remoteURL).host}`,
  type,
  remoteURL,
  ...more,
});
const ecr = (more?: Partial<JobEndpoint>) => end('oci', `https://${aws.registryHost}`, more);
const inner = () => end('oci', registry.url);
const image = { type: 'oci', spec: { image: 'team/app:1.0', override: 'mirror/app' } };
const move = (artifact: Job['artifact'], source: JobEndpoint, destination: JobEndpoint, attempts = 1) =>
  transferJob(
    { artifact, source, destination },
    {
      signal: new AbortController().signal,
      workDir: folder,
      retry: { attempts, baseMs: 1 },
      proxyEnv: env,
      identityEnv: env,
    },
  );
const asked = (host: string) => cloud.requests.filter((request) => request.includes(` ${host}`)).length;
const sts = 'sts.eu-central-1.amazonaws.com';
const api = 'api.ecr.eu-central-1.amazonaws.com';

describe('a worker with a role of AWS', () => {
  it('copies between private registries, with one password for both', async () => {
    const { digest } = await seedImage(registry, 'team/app', '1.0');
    expect((await move(image, ecr(), ecr())).digest).toBe(digest);
    expect([...registry.contents.keys()]).toContain('mirror/app');
    expect([asked(sts), asked(api)]).toEqual([1, 1]);
    expect(cloud.strangers).toEqual([]);
  });

  it('moves files into and out of a bucket', async () => {
    storage.objects.set('/mirror/in/a.bin', { bytes: Buffer.from('hello'), etag: '"1"', headers: {} });
    const bucket = end('s3', `https://${aws.bucketHost}`);
    const file = { type: 'file', spec: { path: 'in/a.bin', override: 'out/b.bin' } };
    await move(file, bucket, bucket);
    const other = kept(await startS3Server());
    await move(file, bucket, end('s3', `${other.url}/mirror`));
    await move(
      { type: 'file', spec: { path: 'out/b.bin', override: 'c.bin' } },
      end('s3', `${other.url}/mirror`),
      bucket,
    );
    expect(storage.objects.get('/mirror/c.bin')?.bytes.toString()).toBe('hello');
    expect(asked(sts)).toBe(3);
  });

  it('sends nothing of it to servers that are not of AWS, nor where the Endpoint says whom to trust', async () => {
    await seedImage(registry, 'team/app', '1.0');
    const hosts = ['evil.example', `${aws.registryHost}.evil.example`, 'x.elb.eu-central-1.amazonaws.com'];
    for (const source of [
      ...hosts.map((host) => end('oci', `https://${host}`)),
      ecr({ remoteURL: `https://${aws.registryHost}:8443` }),
      ecr({ tls: { insecureSkipVerify: true } }),
      ecr({ tls: { ca: authority.cert } }),
    ])
      await expect(move(image, source, inner())).rejects.toThrow();
    expect([asked(sts), asked(api)]).toEqual([0, 0]);
    await expect(move(image, ecr({ tls: { ca: authority.cert } }), inner())).rejects.toThrow(
      'with spec.tls no identity of AWS is used',
    );
  });

  it('prefers what the Secret of the Endpoint holds', async () => {
    const credentials = { username: 'AWS', password: 'old-password' };
    const refused = move(image, ecr({ credentials }), inner());
    await expect(refused).rejects.toMatchObject({
      reason: 'auth',
      message: expect.stringContaining('user "AWS"'),
    });
    expect(asked(sts)).toBe(0);
  });

  it.each([
    [403, 'AccessDenied', 'system:serviceaccount:demo:arc-workflow'],
    [400, 'InvalidIdentityToken', 'account 123456789012 does not know'],
    [400, 'ExpiredTokenException', 'check the clock'],
    [400, 'ValidationError', 'check what its ServiceAccount is set up with'],
  ])('says what to do when the role may not be assumed: %d %s', async (status, code, words) => {
    aws.refusals.push([status, code, 'no']);
    const failed = move(image, ecr(), inner());
    await expect(failed).rejects.toMatchObject({ reason: 'auth', message: expect.stringContaining(words) });
    await expect(failed).rejects.toThrow(role);
    await expect(failed).rejects.not.toThrow(token);
  });

  it('tries again what is not for ever', async () => {
    await seedImage(registry, 'team/app', '1.0');
    aws.refusals.push([400, 'IDPCommunicationError', 'no'], [503, 'ServiceUnavailable', 'no']);
    await move(image, ecr(), inner(), 3);
    expect(asked(sts)).toBe(3);
  });

  it('says that the file of the token is not there', async () => {
    await rm(path.join(folder, 'token'));
    await expect(move(image, ecr(), inner())).rejects.toMatchObject({
      reason: 'config',
      message: expect.stringContaining('AWS_WEB_IDENTITY_TOKEN_FILE'),
    });
  });
});

it('a worker without an identity says so', async () => {
  env = { HTTPS_PROXY: cloud.proxy };
  await expect(move(image, ecr(), inner())).rejects.toMatchObject({
    reason: 'auth',
    message: expect.stringContaining(
      'it names no Secret (spec.secretRef), and the worker has no identity of AWS',
    ),
  });
});
