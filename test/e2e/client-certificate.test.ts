import { afterAll, beforeAll, expect, it } from 'vitest';
import { endpoints, secrets } from '#shared/domain';
import { seedImage } from '#shared/local';
import { type Authority, createAuthority } from '../../shared/base/testing/authority.ts';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { startTlsFront, type TlsFront } from '../../shared/transfer/testing/tls-front.ts';
import {
  type Conduit,
  password,
  startConduit,
  type Tenant,
  username,
  visible,
} from '../fixtures/standalone/conduit.ts';

let conduit: Conduit;
let tenant: Tenant;
let authority: Authority;
let front: TlsFront;
beforeAll(async () => {
  conduit = await startConduit();
  authority = await createAuthority('everybody');
  front = await startTlsFront(conduit.destination.url, authority, authority);
  tenant = await conduit.tenant('mtls');
});
afterAll(async () => {
  await front?.close();
  await conduit?.close();
});

it('an Order reaches a registry that requires a client certificate, once its Secret holds a usable one', async () => {
  await seedImage(conduit.source, 'team/app', '1.0');
  const { cert, key } = await authority.issue({ name: 'mover' }, { use: 'client' });
  const other = await authority.issue({ name: 'other' }, { use: 'client' });
  const login = { username, password };
  await tenant.secret('authority', { 'ca.crt': authority.cert });
  await tenant.secret('mover', { ...login, 'tls.crt': cert, 'tls.key': other.key });
  await tenant.endpoint('inner', {
    type: 'oci',
    remoteURL: front.url,
    secretRef: { name: 'mover' },
    tls: { caSecretRef: { name: 'authority' } },
  });
  const artifacts = [{ type: 'oci', spec: { image: 'team/app:1.0' } }];
  await tenant.order('images', artifacts, {
    defaults: { srcRef: { name: 'source' }, dstRef: { name: 'inner' } },
  });
  const words = 'tls.key is not the key of the first certificate in tls.crt';
  const failed = await tenant.ended('images', 'Failed');
  expect(JSON.stringify(failed.status)).toContain(words);
  await eventually('the probe to say so', 20_000, async () => {
    const { status } = await tenant.read(endpoints, 'inner');
    expect(JSON.stringify(status?.conditions)).toContain(words);
  });
  await tenant.patch(secrets, 'mover', {
    data: { 'tls.key': Buffer.from(key).toString('base64') },
  });
  await tenant.ended('images');
  expect(new Set(front.clients)).toEqual(new Set(['mover']));
  expect(await visible(conduit)).not.toContain(key.split('\n')[1]);
}, 120_000);
