import { beforeAll, describe, expect, it } from 'vitest';
import { createAuthority } from '../../../base/testing/authority.ts';
import { parseAuthenticationConfig } from './config.ts';

let pem: string;
beforeAll(async () => {
  pem = (await createAuthority('ca')).cert;
});

describe('parseAuthenticationConfig', () => {
  it('reads bundles and lists', () => {
    const config = parseAuthenticationConfig({
      'client-ca-file': `comment\n${pem}\n${pem}`,
      'requestheader-client-ca-file': pem,
      'requestheader-username-headers': '["X-Remote-User"]',
      'requestheader-allowed-names': '["a","b"]',
    });
    expect(config.clientAuthorities).toHaveLength(2);
    expect(config.frontProxy).toMatchObject({
      usernameHeaders: ['x-remote-user'],
      allowedNames: ['a', 'b'],
      groupHeaders: [],
    });
  });

  it('has no front proxy without an authority for one', () => {
    expect(parseAuthenticationConfig({}).frontProxy).toBeUndefined();
  });

  it.each([
    ['client-ca-file', { 'client-ca-file': 'no certificate' }],
    ['client-ca-file', { 'client-ca-file': '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' }],
    ['requestheader-allowed-names', { 'requestheader-allowed-names': 'front-proxy' }],
    ['requestheader-allowed-names', { 'requestheader-allowed-names': '[1]' }],
    ['requestheader-group-headers', { 'requestheader-group-headers': '["a b"]' }],
    ['requestheader-username-headers', { 'requestheader-username-headers': '[]' }],
  ])('refuses a wrong %s, naming it', (key, wrong) => {
    const front = {
      'requestheader-client-ca-file': pem,
      'requestheader-username-headers': '["X-Remote-User"]',
    };
    expect(() => parseAuthenticationConfig({ ...front, ...wrong })).toThrow(key);
  });
});
