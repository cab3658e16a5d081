import { describe, expect, it } from 'vitest';
import { secret } from '../testing/objects.ts';
import { accessOf } from './access.ts';

describe('accessOf', () => {
  it.each([
    [{ '.dockerconfigjson': '{}' }, { dockerConfigJson: '{}' }],
    [{ token: 't' }, { token: 't' }],
    [
      { username: 'u', password: '' },
      { username: 'u', password: '' },
    ],
    [
      { accessKeyID: 'id', secretAccessKey: 'key' },
      { accessKeyID: 'id', secretAccessKey: 'key' },
    ],
    [
      {
        AWS_ACCESS_KEY_ID: 'id\n',
        AWS_SECRET_ACCESS_KEY: 'key',
        AWS_SESSION_TOKEN: 't',
        AWS_DEFAULT_REGION: 'eu-west-1',
      },
      { accessKeyID: 'id', secretAccessKey: 'key', sessionToken: 't', region: 'eu-west-1' },
    ],
    [
      { accesskey: 'id', secretkey: 'key' },
      { accessKeyID: 'id', secretAccessKey: 'key' },
    ],
  ])('of %j', (data, expected) =>
    expect(accessOf('oci', secret('s', data))).toEqual({ credentials: expected }),
  );

  it.each([
    [{ 'sign.key': 'k' }, { keys: { sign: 'k' } }],
    [
      { 'trust.pub': 'p', token: 't' },
      { keys: { trust: 'p' }, credentials: { token: 't' } },
    ],
    [
      { 'sign.key': 'k', 'tls.crt': 'c', 'tls.key': 'x' },
      { keys: { sign: 'k' }, client: { certificate: 'c', key: 'x' } },
    ],
    [
      { 'sign.key': 'k', 'tls.crt': 'c' },
      'Secret "s" has only one of tls.crt and tls.key: a client certificate needs both',
    ],
    [{ token: 't' }, 'Secret "s" has neither sign.key, to write bundles, nor trust.pub, to read them'],
  ])('of a bundle, from %j', (data, expected) =>
    expect(accessOf('bundle', secret('s', data))).toEqual(expected),
  );

  it.each([
    [{ 'tls.crt': 'c', 'tls.key': 'k' }, { client: { certificate: 'c', key: 'k' } }],
    [
      { 'tls.crt': 'c', 'tls.key': 'k', token: 't' },
      { client: { certificate: 'c', key: 'k' }, credentials: { token: 't' } },
    ],
    [
      { 'tls.crt': 'c', token: 't' },
      'Secret "s" has only one of tls.crt and tls.key: a client certificate needs both',
    ],
  ])('of a client certificate, from %j', (data, expected) =>
    expect(accessOf('oci', secret('s', data))).toEqual(expected),
  );

  it('names what a Secret could hold', () =>
    expect(accessOf('oci', secret('s', {}))).toBe(
      'Secret "s" has none of: username and password, .dockerconfigjson, token, accessKeyID and secretAccessKey, tls.crt and tls.key',
    ));
});
