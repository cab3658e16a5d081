import { rm } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { JobEndpoint } from '#shared/domain';
import { seedImage } from '#shared/local';
import { type Azure, azureServices } from '../../../shared/transfer/testing/azure.ts';
import { end, image, type Pod, startPod } from './testing/pod.ts';

const tenant = '409520d4-8100-4d1d-ad47-72432ddcc120';
const clientID = '7d8cdf74-cb36-4a2f-9b3a-9f2f5c3c8d10';
const login = 'login.microsoftonline.com';

let pod: Pod;
let azure: Azure;

beforeEach(async () => {
  pod = await startPod('api://AzureADTokenExchange', async ({ token, tokenFile, registry }) => {
    azure = azureServices({ tenant, clientID, token: () => token, registry: registry.url });
    const env = {
      AZURE_CLIENT_ID: clientID,
      AZURE_TENANT_ID: tenant,
      AZURE_FEDERATED_TOKEN_FILE: tokenFile,
      AZURE_AUTHORITY_HOST: `https://${login}/`,
    };
    return { services: azure.services, env };
  });
});
afterEach(() => pod.close());

const acr = (more?: Partial<JobEndpoint>) => end('oci', `https://${azure.registryHost}`, more);
const inner = () => end('oci', pod.registry.url);
const exchanges = () => pod.asked(`${azure.registryHost}/oauth2/exchange`);

describe('a worker with a client of Azure', () => {
  it('copies between private registries, with one sign-in for both', async () => {
    const { digest } = await seedImage(pod.registry, 'team/app', '1.0');
    expect((await pod.move(image, acr(), acr())).digest).toBe(digest);
    expect([...pod.registry.contents.keys()]).toContain('mirror/app');
    expect([pod.asked(login), exchanges()]).toEqual([1, 1]);
    expect(pod.cloud.strangers).toEqual([]);
  });

  it('reads public content anonymously, and writes as itself', async () => {
    azure.publicPull = true;
    await seedImage(pod.registry, 'team/app', '1.0');
    const other = { type: 'oci', spec: { image: 'team/app:1.0', override: 'other/app' } };
    await pod.move(other, acr(), inner());
    expect([pod.asked(login), exchanges()]).toEqual([0, 0]);
    await pod.move(image, inner(), acr());
    expect([pod.asked(login), exchanges()]).toEqual([1, 1]);
    expect([...pod.registry.contents.keys()].sort()).toEqual(['mirror/app', 'other/app', 'team/app']);
  });

  it('sends no credentials to servers outside of Azure, nor to an Endpoint with TLS settings', async () => {
    await seedImage(pod.registry, 'team/app', '1.0');
    const { registryHost } = azure;
    const hosts = [`${registryHost}.evil.example`, `x.${registryHost}`, 'team.azurewebsites.net'];
    for (const source of [
      ...hosts.map((host) => end('oci', `https://${host}`)),
      acr({ remoteURL: `https://${registryHost}:8443` }),
      acr({ tls: { insecureSkipVerify: true } }),
      acr({ tls: { ca: pod.authority.cert } }),
    ])
      await expect(pod.move(image, source, inner())).rejects.toThrow();
    expect([pod.asked(login), exchanges()]).toEqual([0, 0]);
    await expect(pod.move(image, acr({ tls: { ca: pod.authority.cert } }), inner())).rejects.toThrow(
      'an Endpoint with spec.tls does not use the identity of Azure',
    );
  });

  it('prefers what the Secret of the Endpoint holds', async () => {
    const credentials = { username: 'bob', password: 'old-password' };
    await expect(pod.move(image, acr({ credentials }), inner())).rejects.toMatchObject({
      reason: 'auth',
      message: expect.stringContaining('user "bob"'),
    });
    expect(pod.asked(login)).toBe(0);
  });

  it.each([
    [700213, 'invalid_client', 'the subject system:serviceaccount:demo:arc-workflow and the audience'],
    [700016, 'unauthorized_client', 'azure.workload.identity/client-id'],
    [90002, 'invalid_request', 'azure.workload.identity/tenant-id'],
    [700024, 'invalid_client', 'check the clock'],
    [50034, 'invalid_grant', 'check the configuration of its ServiceAccount'],
  ])('explains why it cannot sign in: %d %s', async (code, error, words) => {
    azure.refusals.push([code, error]);
    const failed = pod.move(image, acr(), inner());
    await expect(failed).rejects.toMatchObject({ reason: 'auth', message: expect.stringContaining(words) });
    await expect(failed).rejects.toThrow(`signing in as client ${clientID} of tenant ${tenant}`);
    await expect(failed).rejects.toThrow('system:serviceaccount:demo:arc-workflow');
    await expect(failed).rejects.toThrow(`It reports: ${error}: AADSTS${code}: No.`);
    await expect(failed).rejects.not.toThrow(pod.token);
    await expect(failed).rejects.not.toThrow('Trace ID');
    expect(exchanges()).toBe(0);
  });

  it.each([
    [401, 'UNAUTHORIZED', 'auth', `grant client ${clientID} of tenant ${tenant} the role AcrPull`],
    [403, 'DENIED', 'denied', 'check its network rules'],
  ])('explains why the registry rejects it: %d %s', async (status, code, reason, words) => {
    azure.exchangeRefusals.push([status, code, 'no']);
    const failed = pod.move(image, acr(), inner());
    await expect(failed).rejects.toMatchObject({ reason, message: expect.stringContaining(words) });
    for (const secret of azure.secrets) await expect(failed).rejects.not.toThrow(secret);
  });

  it('retries transient failures', async () => {
    await seedImage(pod.registry, 'team/app', '1.0');
    azure.exchangeRefusals.push([503, 'TOOMANYREQUESTS', 'no'], [429, 'TOOMANYREQUESTS', 'no']);
    await pod.move(image, acr(), inner(), 3);
    expect(exchanges()).toBe(3);
  });

  it.each([
    'https://evil.example/',
    'https://login.microsoftonline.com.evil.example/',
    'https://login.microsoftonline.com@evil.example/',
    'http://login.microsoftonline.com/',
    'https://login.microsoftonline.com/x',
    'https://login.chinacloudapi.cn/',
  ])('sends the token of the pod to no other login, such as %s', async (authority) => {
    pod.env.AZURE_AUTHORITY_HOST = authority;
    await expect(pod.move(image, acr(), inner())).rejects.toMatchObject({
      reason: 'config',
      message: expect.stringContaining(`AZURE_AUTHORITY_HOST of the worker is "${authority}"`),
    });
    expect(pod.asked('')).toBe(pod.asked(azure.registryHost));
    expect([exchanges(), pod.cloud.strangers]).toEqual([0, []]);
  });

  it('reports a missing token file', async () => {
    await rm(pod.tokenFile);
    await expect(pod.move(image, acr(), inner())).rejects.toMatchObject({
      reason: 'config',
      message: expect.stringContaining('AZURE_FEDERATED_TOKEN_FILE'),
    });
  });

  it.each(['AZURE_CLIENT_ID', 'AZURE_TENANT_ID', 'AZURE_FEDERATED_TOKEN_FILE'])(
    'has no identity without %s',
    async (name) => {
      pod.env[name] = '';
      await expect(pod.move(image, acr(), inner())).rejects.toThrow('the worker has no identity of Azure');
    },
  );
});
