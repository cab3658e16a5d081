import tls from 'node:tls';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { JobEndpoint } from '#shared/domain';
import { type Registry, seedImage, startRegistry } from '#shared/local';
import { openSession, registrySource } from '#shared/transfer';
import { type Authority, createAuthority } from '../../../shared/base/testing/authority.ts';
import { type Cloud, type CloudService, startCloud } from '../../../shared/transfer/testing/cloud.ts';
import { passOn, replayed } from '../../../shared/transfer/testing/front.ts';
import { imageLocation } from './chart-images.ts';

const host = 'images.corp.example';
const { signal } = new AbortController();
let registry: Registry;
let authority: Authority;
let network: Cloud;
let digest = '';
const builtIn = tls.getCACertificates('default');

beforeEach(async () => {
  registry = await startRegistry({});
  authority = await createAuthority('a company');
  ({ digest } = await seedImage(registry, 'team/app', '1.0'));
  const images: CloudService = (request, response, body) =>
    passOn(registry.url, replayed(request, body), response);
  network = await startCloud({ [host]: images }, authority);
});
afterEach(async () => {
  tls.setDefaultCACertificates(builtIn);
  await Promise.all([network.close(), registry.close()]);
});

/** Reads an image of a chart, in a registry that is not the Endpoint's own. */
async function read(charts: JobEndpoint['tls']) {
  const session = openSession({ retry: { attempts: 1 }, proxyEnv: { HTTPS_PROXY: network.proxy } });
  const endpoint = { name: 'charts', type: 'helm', remoteURL: 'https://charts.corp.example' };
  const named = { ...endpoint, redirectHosts: [host], ...(charts && { tls: charts }) };
  const image = { host, repository: 'team/app', tag: '1.0', written: 'app' };
  const location = imageLocation(image, named, undefined);
  try {
    return (await registrySource(session.repository(location, 'pull')).root(signal)).digest;
  } finally {
    session.close();
  }
}

it("an image is pulled from another registry trusted by the CA of the chart's Endpoint", async () => {
  await expect(read(undefined)).rejects.toThrow('its certificate is not trusted');
  expect(await read({ ca: authority.cert })).toBe(digest);
});

it('the CA is additional: registries with public certificates are trusted as before', async () => {
  tls.setDefaultCACertificates([...builtIn, authority.cert]);
  expect(await read({ ca: (await createAuthority('another company')).cert })).toBe(digest);
});

it('other TLS settings of the Endpoint do not apply to other registries', async () => {
  await expect(read({ insecureSkipVerify: true })).rejects.toThrow('its certificate is not trusted');
});
