import { afterEach, describe, expect, it } from 'vitest';
import { digestOf } from './contents.ts';
import { type Registry, type RegistryOptions, startRegistry } from './registry.ts';
import { seedImage } from './seed.ts';

let registry: Registry | undefined;
afterEach(async () => {
  await registry?.close();
  registry = undefined;
});

async function start(
  options: RegistryOptions = {},
): Promise<(path: string, init?: RequestInit) => Promise<Response>> {
  const started = await startRegistry(options);
  registry = started;
  return (path, init) => fetch(`${started.url}/v2/${path}`, init);
}

const bytes = Buffer.from('some content');
const digest = digestOf(bytes);
const codeOf = async (response: Response): Promise<unknown> =>
  ((await response.json()) as { errors: { code: string }[] }).errors[0]?.code;

describe('the registry', () => {
  it('takes blobs at once and in pieces, and gives them whole or in part', async () => {
    const ask = await start();
    const opened = await ask('a/b/blobs/uploads/', { method: 'POST' });
    const location = (opened.headers.get('location') ?? '').replace('/v2/', '');
    await ask(location, { method: 'PATCH', body: bytes.subarray(0, 4) });
    const stored = await ask(`${location}?digest=${digest}`, { method: 'PUT', body: bytes.subarray(4) });
    expect(stored.status).toBe(201);
    expect((await ask(`c/blobs/uploads/?digest=${digest}`, { method: 'POST', body: bytes })).status).toBe(
      201,
    );
    const part = await ask(`c/blobs/${digest}`, { headers: { range: 'bytes=5-' } });
    expect([part.status, await part.text()]).toEqual([206, 'content']);
    expect((await ask(`a/b/blobs/${digest}`, { method: 'HEAD' })).headers.get('content-length')).toBe('12');
  });

  it('mounts a blob of another repository, and opens an upload for one it does not have', async () => {
    const ask = await start();
    await ask(`c/blobs/uploads/?digest=${digest}`, { method: 'POST', body: bytes });
    const mounted = await ask(`d/blobs/uploads/?mount=${digest}&from=c`, { method: 'POST' });
    const unknown = await ask(`d/blobs/uploads/?mount=${digest}&from=x`, { method: 'POST' });
    expect([mounted.status, unknown.status]).toEqual([201, 202]);
  });

  it('refuses wrong digests and manifests whose content is not there', async () => {
    const ask = await start();
    const wrong = await ask(`c/blobs/uploads/?digest=${digestOf(Buffer.from('x'))}`, {
      method: 'POST',
      body: bytes,
    });
    expect([wrong.status, await codeOf(wrong)]).toEqual([400, 'DIGEST_INVALID']);
    const put = (body: object) => ask('c/manifests/1', { method: 'PUT', body: JSON.stringify(body) });
    expect(await codeOf(await put({ config: { digest } }))).toBe('MANIFEST_BLOB_UNKNOWN');
    expect(await codeOf(await put({ manifests: [{ digest }] }))).toBe('MANIFEST_UNKNOWN');
    expect(await codeOf(await ask('c/manifests/1'))).toBe('MANIFEST_UNKNOWN');
  });

  it('lists tags and referrers, page by page', async () => {
    const ask = await start({ referrersPage: 1 });
    const seeded = await seedImage(registry as Registry, 'team/app', '1.0');
    expect(await (await ask('team/app/tags/list')).json()).toEqual({ name: 'team/app', tags: ['1.0'] });
    const list = await (await ask(`team/app/referrers/${seeded.digest}`)).json();
    expect(list).toMatchObject({ manifests: [{ digest: seeded.signature }] });
  });

  it('has no referrers API where the options say so', async () => {
    const ask = await start({ referrersApi: false });
    expect((await ask(`a/referrers/${digest}`)).status).toBe(404);
  });

  it('asks for Basic credentials', async () => {
    const ask = await start({ username: 'bob', password: 'x' });
    const refused = await ask('a/tags/list');
    expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
      401,
      'Basic realm="arc-demo-registry"',
    ]);
    const authorization = `Basic ${Buffer.from('bob:x').toString('base64')}`;
    expect((await ask('a/tags/list', { headers: { authorization } })).status).toBe(200);
  });

  it('gives tokens good for their scope alone', async () => {
    const ask = await start({ auth: 'bearer', username: 'bob', password: 'x' });
    const authorization = `Basic ${Buffer.from('bob:x').toString('base64')}`;
    const issued = await fetch(`${registry?.url}/token?scope=repository:a:pull`, {
      headers: { authorization },
    });
    const { token } = (await issued.json()) as { token: string };
    const headers = { authorization: `Bearer ${token}` };
    const statuses = [
      (await ask('a/tags/list', { headers })).status,
      (await ask('b/tags/list', { headers })).status,
      (await ask('a/blobs/uploads/', { method: 'POST', headers })).status,
    ];
    expect(statuses).toEqual([200, 401, 401]);
  });

  it('fails as its fault rules say, as often as they say', async () => {
    const ask = await start({
      faults: [{ method: 'GET', times: 1, fault: { kind: 'status', status: 429, retryAfter: '7' } }],
    });
    const first = await ask('a/tags/list');
    expect([first.status, first.headers.get('retry-after')]).toEqual([429, '7']);
    expect((await ask('a/tags/list')).status).toBe(200);
    registry?.faults.add({ times: 1, fault: { kind: 'reset' } });
    await expect(ask('a/tags/list')).rejects.toThrow();
    registry?.faults.add({ times: 1, fault: { kind: 'truncate', bytes: 3 } });
    await expect(ask('a/tags/list').then((response) => response.text())).rejects.toThrow();
    expect(registry?.count('GET')).toBe(4);
  });
});

describe('a seeded image', () => {
  it('is the same for the same arguments, and another for others', async () => {
    await start();
    const other = await startRegistry();
    const one = await seedImage(registry as Registry, 'a', '1', { layerBytes: 100 });
    expect(await seedImage(other, 'a', '1', { layerBytes: 100 })).toEqual(one);
    expect((await seedImage(other, 'a', '2', { layerBytes: 100 })).digest).not.toBe(one.digest);
    await other.close();
  });

  it('has layers that are tars of one file each', async () => {
    await start();
    const { blobs } = await seedImage(registry as Registry, 'a', '1', { layerBytes: 1000 });
    const layer = registry?.contents.get('a')?.blobs.get(blobs[0] ?? '');
    expect(layer?.toString('ascii', 257, 262)).toBe('ustar');
    expect(Number.parseInt(layer?.toString('ascii', 124, 135) ?? '', 8)).toBe(1000);
    expect((layer?.length ?? 1) % 512).toBe(0);
  });
});
