import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openEtcdStore } from '#shared/kubernetes/storage';
import { type Authority, createAuthority } from '../../shared/base/testing/authority.ts';
import { type EtcdProcess, startEtcd } from '../fixtures/etcd/process.ts';
import { compare, startLanes } from './etcd-writers.ts';

const assets = process.env.KUBEBUILDER_ASSETS;
if (process.env.CI && !assets)
  throw new Error('set KUBEBUILDER_ASSETS to a folder that holds etcd 3.5.13 or newer');

describe.skipIf(!assets)('an etcd that asks for certificates', { timeout: 180_000 }, () => {
  let one: Authority;
  let two: Authority;
  let etcd: EtcdProcess;
  let file: (name: string) => string;

  /** Puts a certificate of `by` where etcd reads it at each handshake. */
  const serveWith = async (by: Authority) => {
    const { cert, key } = await by.issue({ name: 'etcd' }, { hosts: ['localhost', '127.0.0.1'] });
    await writeFile(file('tls.crt'), cert);
    await writeFile(file('tls.key'), key);
  };
  /** Puts authorities where etcd reads them when it starts. */
  const trust = (...authorities: Authority[]) => writeFile(file('ca.crt'), bundle(...authorities));
  const client = async (by: Authority, ...trusted: Authority[]) => ({
    ca: bundle(...trusted),
    ...(await by.issue({ name: 'api-server' }, { use: 'client' })),
  });

  beforeAll(async () => {
    [one, two] = await Promise.all([createAuthority('one'), createAuthority('two')]);
    etcd = await startEtcd(path.join(assets ?? '', 'etcd'), [], async (folder) => {
      file = (name) => path.join(folder, name);
      await serveWith(one);
      await trust(one);
      return [
        ...['--cert-file', file('tls.crt'), '--key-file', file('tls.key')],
        ...['--client-cert-auth', '--trusted-ca-file', file('ca.crt')],
      ];
    });
  }, 60_000);
  afterAll(() => etcd?.stop());

  const refused = (tls: { ca: string; cert?: string; key?: string }) =>
    expect(openEtcdStore({ endpoints: [etcd.endpoint], tls, requestTimeout: 2_000 })).rejects.toMatchObject({
      code: 'ServiceUnavailable',
    });

  it('refuses a client without a certificate, or with one of another authority', async () => {
    await refused({ ca: one.cert });
    await refused(await client(two, one));
  });

  it('is moved to another authority while it is written and watched, and every write is seen', async () => {
    const first = await client(one, one);
    const store = await openEtcdStore({ endpoints: [etcd.endpoint], tls: first });
    const lanes = await startLanes(store, 2);
    const watching = lanes.follow('/lane/');
    const more = () => lanes.more(20);
    await more();

    // Renewed, and half of a pair.
    store.renew(await client(one, one));
    expect(() => store.renew({ ...first, key: 'no key' })).toThrow();
    await more();
    // Both are trusted, by both sides; then the second signs; then the first is forgotten.
    await trust(one, two);
    await etcd.restart();
    store.renew(await client(one, one, two));
    await more();
    store.renew(await client(two, one, two));
    await serveWith(two);
    await more();
    await trust(two);
    await etcd.restart();
    await more();
    await refused(first);

    const items = await lanes.finish();
    compare(lanes.outcomes, await watching, items);
    await store.close();
  });
});

function bundle(...authorities: Authority[]): string {
  return authorities.map(({ cert }) => cert).join('\n');
}
