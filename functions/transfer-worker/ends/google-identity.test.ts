import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobEndpoint } from '#shared/domain';
import { seedImage } from '#shared/local';
import { type Google, googleServices } from '../../../shared/transfer/testing/google.ts';
import { end, image, type Pod, startPod } from './testing/pod.ts';

const pool = 'projects/123456789/locations/global/workloadIdentityPools/on-prem';
const provider = `//iam.googleapis.com/${pool}/providers/this-cluster`;
const principal = `principal://iam.googleapis.com/${pool}/subject/system:serviceaccount:demo:arc-workflow`;
const serviceAccount = 'arc@project.iam.gserviceaccount.com';
const sts = 'sts.googleapis.com';
const iam = 'iamcredentials.googleapis.com';

let pod: Pod;
let google: Google;
afterEach(() => pod.close());

/** What gcloud iam workload-identity-pools create-cred-config writes, with changes. */
async function configure(folder: string, more: object): Promise<string> {
  const file = path.join(folder, 'federation.json');
  const config = {
    type: 'external_account',
    audience: provider,
    subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
    token_url: `https://${sts}/v1/token`,
    credential_source: { file: path.join(folder, 'token'), format: { type: 'text' } },
  };
  await writeFile(file, JSON.stringify({ ...config, ...more }));
  return file;
}

async function start(actsAs?: string): Promise<void> {
  pod = await startPod('sts.googleapis.com', async ({ folder, token, registry }) => {
    const account = actsAs === undefined ? {} : { serviceAccount: actsAs };
    google = googleServices({ provider, token: () => token, registry: registry.url, ...account });
    const url = `https://${iam}/v1/projects/-/serviceAccounts/${actsAs}:generateAccessToken`;
    const acting = actsAs === undefined ? {} : { service_account_impersonation_url: url };
    const env = { GOOGLE_APPLICATION_CREDENTIALS: await configure(folder, acting) };
    return { services: google.services, env };
  });
}

const docker = (more?: Partial<JobEndpoint>) => end('oci', `https://${google.registryHost}`, more);
const inner = () => end('oci', pod.registry.url);

describe('a worker that impersonates a Google service account', () => {
  beforeEach(() => start(serviceAccount));

  it('copies between private registries, with one token for both', async () => {
    const { digest } = await seedImage(pod.registry, 'team/app', '1.0');
    expect((await pod.move(image, docker(), docker())).digest).toBe(digest);
    expect([...pod.registry.contents.keys()]).toContain('mirror/app');
    expect([pod.asked(sts), pod.asked(iam)]).toEqual([1, 1]);
    expect(pod.cloud.strangers).toEqual([]);
  });

  it.each([
    [403, 'PERMISSION_DENIED', `roles/iam.workloadIdentityUser on service account ${serviceAccount} to`],
    [404, 'NOT_FOUND', `service account ${serviceAccount} does not exist`],
    [400, 'INVALID_ARGUMENT', 'check the configuration of its ServiceAccount'],
  ])('explains why it cannot: %d %s', async (status, code, words) => {
    google.actingRefusals.push([status, code]);
    const failed = pod.move(image, docker(), inner());
    await expect(failed).rejects.toMatchObject({ reason: 'auth', message: expect.stringContaining(words) });
    await expect(failed).rejects.toThrow(principal);
    for (const secret of [pod.token, ...google.secrets]) await expect(failed).rejects.not.toThrow(secret);
  });

  it('retries transient failures', async () => {
    await seedImage(pod.registry, 'team/app', '1.0');
    google.actingRefusals.push([503, 'UNAVAILABLE']);
    google.refusals.push([500, 'server_error']);
    await pod.move(image, docker(), inner(), 3);
    expect([pod.asked(sts), pod.asked(iam)]).toEqual([3, 2]);
  });

  it('is named by what the registry refuses', async () => {
    google.services[google.registryHost] = refusing(google.services[google.registryHost]);
    await expect(pod.move(image, docker(), inner())).rejects.toMatchObject({
      reason: 'denied',
      message: expect.stringContaining(`service account ${serviceAccount} may not pull from this repository`),
    });
  });
});

/** A registry that lets nobody read, after it has given a token. */
function refusing(service: Google['services'][string] | undefined): Google['services'][string] {
  return (request, response, body) => {
    const { url = '', headers } = request;
    if (url.startsWith('/v2/token') || headers.authorization === undefined)
      service?.(request, response, body);
    else response.writeHead(403).end();
  };
}

describe('a worker with a federated Google identity', () => {
  beforeEach(() => start());

  it('moves images into and out of a private registry', async () => {
    await seedImage(pod.registry, 'team/app', '1.0');
    await pod.move(image, inner(), docker());
    await pod.move({ type: 'oci', spec: { image: 'mirror/app:1.0', override: 'b' } }, docker(), inner());
    expect([...pod.registry.contents.keys()].sort()).toEqual(['b', 'mirror/app', 'team/app']);
    expect([pod.asked(sts), pod.asked(iam)]).toEqual([2, 0]);
  });

  it('sends no credentials to servers outside of Google, nor to an Endpoint with TLS settings', async () => {
    await seedImage(pod.registry, 'team/app', '1.0');
    const { registryHost } = google;
    const hosts = [`${registryHost}.evil.example`, `x.${registryHost}`, 'x.gcr.io', 'x.run.app'];
    for (const source of [
      ...hosts.map((host) => end('oci', `https://${host}`)),
      docker({ remoteURL: `https://${registryHost}:8443` }),
      docker({ tls: { insecureSkipVerify: true } }),
      docker({ tls: { ca: pod.authority.cert } }),
      docker({ credentials: { username: '_json_key', password: 'old-password' } }),
    ])
      await expect(pod.move(image, source, inner())).rejects.toThrow();
    expect([pod.asked(sts), pod.asked(iam)]).toEqual([0, 0]);
  });

  it.each([
    [400, 'invalid_target', `provider ${provider} does not exist`],
    [400, 'invalid_grant', 'must have the issuer and the keys of the cluster'],
    [401, 'unauthorized_client', 'the attribute condition of provider'],
    [400, 'invalid_request', 'check the configuration of its ServiceAccount'],
  ])('explains why its token is rejected: %d %s', async (status, error, words) => {
    google.refusals.push([status, error]);
    const failed = pod.move(image, docker(), inner());
    await expect(failed).rejects.toMatchObject({ reason: 'auth', message: expect.stringContaining(words) });
    await expect(failed).rejects.toThrow(`exchanging the token of ${principal}`);
    await expect(failed).rejects.not.toThrow(pod.token);
  });

  it('sends its token to no other server in its configuration', async () => {
    for (const more of [
      { token_url: 'https://sts.evil.example/v1/token' },
      {
        service_account_impersonation_url: `https://evil.example/v1/projects/-/serviceAccounts/${serviceAccount}:generateAccessToken`,
      },
    ]) {
      await configure(pod.folder, more);
      await expect(pod.move(image, docker(), inner())).rejects.toMatchObject({
        reason: 'config',
        message: expect.stringContaining('GOOGLE_APPLICATION_CREDENTIALS of the worker cannot be used'),
      });
    }
    expect([pod.asked(sts), pod.cloud.strangers]).toEqual([0, []]);
  });

  it('reports a missing token or configuration file', async () => {
    for (const [file, name] of [
      [pod.tokenFile, 'credential_source.file'],
      [path.join(pod.folder, 'federation.json'), 'The file in GOOGLE_APPLICATION_CREDENTIALS'],
    ] as const) {
      await rm(file);
      const failed = pod.move(image, docker(), inner());
      await expect(failed).rejects.toMatchObject({
        reason: 'config',
        message: expect.stringContaining(name),
      });
    }
  });
});
