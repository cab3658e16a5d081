import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type SignInServer, startSignInServer } from '../testing/sign-in-server.ts';

let api: SignInServer;

beforeAll(async () => {
  api = await startSignInServer();
});
afterAll(() => api.close());
beforeEach(() => api.clear());

describe('a kubeconfig with an auth-provider', () => {
  const provider = (name: string, config = {}) => ({ 'auth-provider': { name, config } });
  const idToken = (claims: object) =>
    ['{}', JSON.stringify(claims), ''].map((part) => Buffer.from(part).toString('base64url')).join('.');
  const soon = Math.round(Date.now() / 1000) + 3600;

  it('signs in with the id-token of oidc while it is good', async () => {
    const token = idToken({ exp: soon });
    const config = { 'id-token': token, 'refresh-token': 'r', 'idp-issuer-url': 'https://127.0.0.1:9' };
    expect(await api.seenBy({ user: provider('oidc', config) })).toMatchObject({
      authorization: `Bearer ${token}`,
    });
  });

  it('signs in with a token beside it, as kubectl does', async () => {
    expect(await api.seenBy({ user: { ...provider('gcp'), token: 'abc' } })).toMatchObject({
      authorization: 'Bearer abc',
    });
  });

  it.each<[string, object, RegExp]>([
    [
      'an expired id-token',
      provider('oidc', { 'id-token': idToken({ exp: 1 }), 'refresh-token': 'r' }),
      /user u of context x, .*expired at 1970-.*the tool that created this kubeconfig.*"kubectl oidc-login" of/,
    ],
    ['no id-token', provider('oidc', { 'refresh-token': 'r' }), /has no id-token.*oidc-login/],
    [
      'a cloud provider that kubectl no longer supports',
      provider('gcp'),
      /"gcp" is no longer supported.*gke-gcloud-auth-plugin/,
    ],
    [
      'another such cloud',
      provider('azure', { 'access-token': 'secret' }),
      /"azure".*kubelogin convert-kubeconfig/,
    ],
    ['an unknown provider', provider('mine'), /"mine" is no longer supported.*users\[\]\.user\.exec/],
  ])('and %s is refused with the plugin to use', async (_, user, message) => {
    await expect(api.seenBy({ user })).rejects.toMatchObject({
      code: 'Invalid',
      message: expect.stringMatching(message),
    });
    await expect(api.seenBy({ user })).rejects.not.toThrow(/secret|eyJ|ZXhw/);
    expect(api.seen).toEqual([]);
  });
});
