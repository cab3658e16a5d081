import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Job, JobEndpoint } from '#shared/domain';
import { type Registry, seedImage, startRegistry } from '#shared/local';
import type { FaultServer } from '../../../shared/transfer/testing/fault-server.ts';
import { startS3Server } from '../../../shared/transfer/testing/s3-server.ts';
import { startWebServer } from '../../../shared/transfer/testing/web-server.ts';
import { light, runBundle } from './testing/sides.ts';

const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const keys = {
  sign: String(privateKey.export({ format: 'pem', type: 'pkcs8' })),
  trust: String(publicKey.export({ format: 'pem', type: 'spki' })),
};

/** A server that is no registry, as the Endpoint of both sides. */
interface Medium {
  server: FaultServer;
  names(): string[];
  change(name: string): void;
  put(name: string, bytes: Buffer): void;
  remove(name: string): void;
  clear(): void;
  endpoint: JobEndpoint;
}

async function s3(): Promise<Medium> {
  const server = await startS3Server({ accessKeyID: 'account' });
  const { objects, url } = server;
  const credentials = { accessKeyID: 'account', secretAccessKey: 'secret' };
  return {
    server,
    names: () => [...objects.keys()].map((name) => name.replace('/bucket/pre/', '')).sort(),
    change(name) {
      const found = objects.get(`/bucket/pre/${name}`);
      if (found) objects.set(`/bucket/pre/${name}`, { ...found, ...changed(found.bytes), headers: {} });
    },
    put(name, bytes) {
      objects.set(`/bucket/pre/${name}`, { bytes, etag: '"put"', headers: {} });
    },
    remove: (name) => objects.delete(`/bucket/pre/${name}`),
    clear: () => objects.clear(),
    endpoint: { name: 'medium', type: 'bundle', remoteURL: `${url}/bucket/pre`, credentials, keys },
  };
}

async function web(): Promise<Medium> {
  const server = await startWebServer({ account: 'user:secret' });
  const { files, url } = server;
  const credentials = { username: 'user', password: 'secret' };
  return {
    server,
    names: () => [...files.keys()].map((name) => name.replace('/share/', '')).sort(),
    change(name) {
      const found = files.get(`/share/${name}`);
      if (found) files.set(`/share/${name}`, { ...found, ...changed(found.bytes) });
    },
    put(name, bytes) {
      files.set(`/share/${name}`, { bytes, mediaType: 'text/html' });
    },
    remove: (name) => files.delete(`/share/${name}`),
    clear: () => files.clear(),
    endpoint: {
      name: 'medium',
      type: 'bundle',
      remoteURL: `${url}/share`,
      credentials,
      keys,
      tls: { plainHTTP: true },
    },
  };
}

function changed(bytes: Buffer): { bytes: Buffer; etag: string } {
  const other = Buffer.from(bytes);
  other[1000] = (other[1000] ?? 0) ^ 1;
  return { bytes: other, etag: '"another"' };
}

describe.each([
  ['an S3 storage', s3],
  ['a server that takes PUT', web],
])('a bundle in %s', (_, start) => {
  let root = '';
  let medium: Medium;
  let source: Registry;
  let inside: Registry;

  beforeEach(async () => {
    root = await mkdtemp(path.join(os.tmpdir(), 'arc-bundles-'));
    [source, inside, medium] = [await startRegistry({}), await startRegistry({}), await start()];
    await seedImage(source, 'team/app', '1.0', light);
    await seedImage(source, 'team/app', '2.0', { ...light, layers: 3 });
  });
  afterEach(async () => {
    await Promise.all([source.close(), inside.close(), medium.server.close()]);
    await rm(root, { recursive: true });
  });

  const registry = ({ url }: Registry): JobEndpoint => ({ name: 'registry', type: 'oci', remoteURL: url });
  const run = (job: Job, side: string, options = {}) => runBundle(root, job, side, options);
  const exported = (spec: object = {}) =>
    run(
      {
        artifact: {
          type: 'bundle-export',
          spec: { name: 'first', contents: [{ image: 'team/app:1.0' }], partSize: '64KiB', ...spec },
        },
        source: registry(source),
        destination: medium.endpoint,
      },
      'out',
    );
  const imported = (spec: object = {}, options = {}, destination = registry(inside)) =>
    run(
      {
        artifact: { type: 'bundle-import', spec: { name: 'first', ...spec } },
        source: medium.endpoint,
        destination,
      },
      'in',
      options,
    );
  const left = async (side: string) => {
    const names = await readdir(path.join(root, side, '.servers'), { recursive: true }).catch(() => []);
    return names.filter((name) => name.includes('/')).map((name) => path.basename(name));
  };
  const refuse = (method: string, name: string) => {
    medium.server.fault = (one) =>
      one.method === method && one.path.endsWith(`/${name}`) ? { status: 503 } : undefined;
  };
  const sent = () =>
    medium.server.requests.filter(({ method }) => method === 'PUT').map((one) => path.basename(one.path));

  it('moves from one side to the other, and leaves nothing in the volumes', async () => {
    const made = await exported();
    const parts = medium.names().filter((name) => name.includes('.tar.'));
    expect(parts.length).toBeGreaterThan(2);
    expect(medium.names()).toEqual(['first.arc-bundle.json', 'first.arc-bundle.json.sig', ...parts]);
    // Where the record lies, the bundle is complete.
    expect(sent().at(-1)).toBe('first.arc-bundle.json');
    expect(await imported({ digest: made?.digest })).toMatchObject({ items: { total: 1, copied: 1 } });
    expect(inside.contents.get('team/app')?.tags.get('1.0')).toBe(
      source.contents.get('team/app')?.tags.get('1.0'),
    );
    expect(medium.names()).toEqual(expect.arrayContaining(['first.receipt.json', 'first.receipt.json.sig']));
    const before = sent().length;
    expect(await exported()).toMatchObject({ digest: made?.digest, items: { unchanged: 1 } });
    expect(sent()).toHaveLength(before);
    expect([...(await left('out')), ...(await left('in'))]).toEqual([]);
  });

  it.each(['first.tar.001', 'first.tar.002'])('is rebuilt identically if %s is lost', async (lost) => {
    const made = await exported();
    const names = medium.names();
    medium.remove(lost);
    expect(await exported()).toMatchObject({ digest: made?.digest, items: { copied: 1, unchanged: 0 } });
    expect(medium.names()).toEqual(names);
    expect(await exported()).toMatchObject({ items: { unchanged: 1 } });
    expect(await left('out')).toEqual([]);
    expect(await imported({ digest: made?.digest })).toMatchObject({ items: { copied: 1 } });
  });

  it('whose parts are lost is not rebuilt if its source has changed', async () => {
    await exported();
    medium.remove('first.tar.001');
    const names = medium.names();
    await seedImage(source, 'team/app', '1.0', { ...light, layers: 3 });
    await expect(exported()).rejects.toThrow('cannot be rebuilt identically');
    expect(medium.names()).toEqual(names);
    expect(await left('out')).toEqual([]);
  });

  it('omits what a receipt there confirms as imported', async () => {
    await exported();
    const second = { name: 'second', contents: [{ image: 'team/app:2.0' }], since: 'first' };
    await expect(exported(second)).rejects.toThrow('No receipt confirms yet');
    await imported();
    await exported(second);
    expect(await imported({ name: 'second' })).toMatchObject({ items: { total: 1, failed: 0 } });
    expect(inside.contents.get('team/app')?.tags.has('2.0')).toBe(true);
  });

  it.each(['first.tar.001', 'first.tar.002', 'first.arc-bundle.json.sig', 'first.arc-bundle.json'])(
    'whose export ended before %s is resumed without sending files again',
    async (name) => {
      refuse('PUT', name);
      await expect(exported()).rejects.toMatchObject({ reason: 'retryable' });
      const [asked, before] = [source.requests.length, new Set(medium.names())];
      await expect(imported()).rejects.toMatchObject({
        reason: 'retryable',
        message: expect.stringMatching(/"first" is not in http/),
      });
      medium.server.fault = () => undefined;
      medium.server.requests.length = 0;
      await expect(exported({ contents: [{ image: 'team/app:2.0' }] })).rejects.toThrow(
        'with other contents',
      );
      await exported();
      expect(source.requests).toHaveLength(asked);
      expect(sent().filter((each) => before.has(each))).toEqual([]);
      expect(await imported()).toMatchObject({ items: { copied: 1 } });
    },
  );

  it('whose import ended between two parts is resumed', async () => {
    await exported();
    // What a server without digests was sent is read back.
    medium.server.requests.length = 0;
    const gets = (name: string) =>
      medium.server.requests.filter((one) => one.method === 'GET' && one.path.endsWith(name)).length;
    refuse('GET', 'first.tar.002');
    await expect(imported()).rejects.toMatchObject({ reason: 'retryable' });
    medium.server.fault = () => undefined;
    expect(await imported()).toMatchObject({ items: { copied: 1 } });
    expect(gets('first.tar.001')).toBe(1);
  });

  it('that was changed is refused, and fetched again by the next attempt', async () => {
    await exported();
    medium.change('first.tar.002');
    await expect(imported()).rejects.toThrow(/damaged or was changed|not a tar|record says/);
    expect(inside.requests).toEqual([]);
    expect(await left('in')).toEqual([]);
  });

  it('is made anew after a refusal, once its files were removed', async () => {
    await exported();
    const contents = [{ image: 'team/app:2.0' }];
    await expect(exported({ contents })).rejects.toThrow('with other contents');
    medium.clear();
    await exported({ contents });
    expect(await imported()).toMatchObject({ items: { copied: 1 } });
    expect([...(inside.contents.get('team/app')?.tags.keys() ?? [])]).toContain('2.0');
    expect([...(await left('out')), ...(await left('in'))]).toEqual([]);
  });

  it('that lost a part before it was sent is rewritten', async () => {
    refuse('PUT', 'first.tar.001');
    await expect(exported()).rejects.toMatchObject({ reason: 'retryable' });
    medium.server.fault = () => undefined;
    const volume = path.join(root, 'out', '.servers');
    const names = await readdir(volume, { recursive: true });
    await rm(path.join(volume, names.find((name) => name.endsWith('first.tar.002')) ?? ''));
    await exported();
    expect(await imported()).toMatchObject({ items: { copied: 1 } });
  });

  it('is fetched for each destination into files of its own', async () => {
    await exported();
    refuse('GET', 'first.tar.002');
    await expect(imported()).rejects.toMatchObject({ reason: 'retryable' });
    medium.server.fault = () => undefined;
    await imported({}, {}, { ...registry(inside), remoteURL: `${inside.url}/mirror` });
    expect(await left('in')).toContain('first.tar.001');
  });

  it('ends with the part that is shorter than the first one', async () => {
    await exported();
    const parts = medium.names().filter((name) => name.includes('.tar.'));
    const further = `first.tar.${String(parts.length + 1).padStart(3, '0')}`;
    medium.put(further, Buffer.from('<html>'));
    expect(await imported()).toMatchObject({ items: { copied: 1 } });
    expect(medium.server.requests.filter((one) => one.path.endsWith(further))).toEqual([]);
  });

  it('is refused before any part is fetched if its record is a web page', async () => {
    await exported();
    medium.put('first.arc-bundle.json', Buffer.from('<html>'));
    medium.server.requests.length = 0;
    await expect(imported()).rejects.toMatchObject({
      reason: 'permanent',
      message: expect.stringContaining('is not signed by a key of trust.pub'),
    });
    expect(medium.server.requests.filter((one) => one.path.includes('.tar.'))).toEqual([]);
    expect(await left('in')).toEqual([]);
  });

  it('above the size limit is refused before all of it is fetched', async () => {
    await exported();
    medium.server.requests.length = 0;
    await expect(imported({}, { maxBytes: 100_000 })).rejects.toThrow('ARC_MAX_BYTES');
    const last = medium.names().findLast((name) => name.includes('.tar.')) ?? '';
    expect(medium.server.requests.filter((one) => one.path.endsWith(last) && one.method === 'GET')).toEqual(
      [],
    );
  });

  it("fails with the server's message, and discloses no secret", async () => {
    medium.server.fault = () => ({ status: 403 });
    const failed = await exported()?.then(String, (caught: Error) => caught.message);
    expect(failed).toMatch(/may not read it|refuse/);
    expect(failed).not.toMatch(/secret|PRIVATE/);
  });
});
