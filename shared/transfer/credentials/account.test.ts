import { describe, expect, it } from 'vitest';
import { accountOf } from './account.ts';
import { credentialsFor, type EndpointCredentials } from './credentials.ts';

const auths = (auth: object) => JSON.stringify({ auths: { 'registry.example.com': auth } });
const forms: [string, EndpointCredentials][] = [
  ['username and password', { username: 'jo', password: 'hunter2' }],
  ['a docker config', { dockerConfigJson: auths({ username: 'jo', password: 'hunter2' }) }],
  ['a token', { token: 'hunter2' }],
  ['keys of a storage', { accessKeyID: 'jo', secretAccessKey: 'hunter2' }],
];

describe('accountOf', () => {
  it('is the same for a user, in whatever form the credentials are and whatever the password is', () => {
    const inConfig = credentialsFor(forms[1]?.[1], 'registry.example.com', 'team/app');
    expect(accountOf({ username: 'jo', password: 'another' })).toBe('user jo');
    expect(accountOf(inConfig)).toBe('user jo');
    expect(accountOf({ accessKeyID: 'jo', secretAccessKey: 'x' })).toBe('user jo');
  });

  it('distinguishes users, tokens, client certificates, a cloud identity and anonymous access', () => {
    const cloud = {
      kind: 'cloud' as const,
      owner: () => 'pod',
      fetch: () => Promise.reject(new Error('no')),
    };
    const accounts = [
      accountOf(undefined),
      accountOf({ username: 'jo', password: 'x' }),
      accountOf({ username: 'mo', password: 'x' }),
      accountOf({ token: 'one' }),
      accountOf({ token: 'two' }),
      accountOf(undefined, { certificate: 'one' }),
      accountOf({ username: 'jo', password: 'x' }, { certificate: 'one' }),
      accountOf(cloud),
    ];
    expect(new Set(accounts).size).toBe(accounts.length);
    expect(accounts[0]).toBe('');
    expect(accountOf({ kind: 'none', hint: 'its Secret holds keys for S3' })).toBe('');
  });

  it.each(forms)('holds no secret: %s', (_form, credentials) => {
    expect(accountOf(credentials)).not.toContain('hunter2');
    expect(accountOf(credentialsFor(credentials, 'registry.example.com', 'team/app'))).not.toContain(
      'hunter2',
    );
  });
});
