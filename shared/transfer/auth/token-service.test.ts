import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createMasker } from '#shared/base/errors';
import type { RegistryCredentials } from '../credentials/docker-config.ts';
import type { HttpRequest } from '../http/http-client.ts';
import { createTokenService } from './token-service.ts';

const signal = new AbortController().signal;
const basic: RegistryCredentials = { kind: 'basic', username: 'bob', password: 'x' };

function service(
  credentials: RegistryCredentials,
  answer: string,
  origin = 'https://r.io',
  tokenHosts = ['auth.io'],
) {
  const sent: HttpRequest[] = [];
  const masker = createMasker();
  const context = {
    endpoint: 'src',
    host: 'r.io',
    place: 'repository a',
    credentials,
    activity: '',
    writing: false,
  };
  const client = {
    send: async (request: HttpRequest) => {
      sent.push(request);
      return { status: 200, headers: {}, body: Readable.from([Buffer.from(answer)]), fromPublic: false };
    },
    close: () => {},
  };
  return {
    sent,
    masker,
    tokens: createTokenService({ client, credentials, origin, context, tokenHosts, masker }),
  };
}

const request = {
  realm: 'https://auth.io/token?x=1',
  service: 'r.io',
  scopes: ['repository:a:pull', 'repository:b:pull'],
};

describe('the token service', () => {
  it('receives Basic credentials for every scope, and its token is masked from then on', async () => {
    const { sent, masker, tokens } = service(basic, '{"token":"secret-token","expires_in":300}');
    expect(await tokens.fetch(request, signal)).toEqual({ value: 'secret-token', lifetimeMs: 300_000 });
    expect(sent[0]?.url.searchParams.getAll('scope')).toEqual(request.scopes);
    expect(sent[0]?.headers).toHaveProperty('authorization');
    expect(masker.apply('secret-token')).toBe('***');
  });

  it('receives an identity token by POST', async () => {
    const { sent, tokens } = service({ kind: 'identity', token: 'refresh me' }, '{"access_token":"t"}');
    expect(await tokens.fetch(request, signal)).toEqual({ value: 't', lifetimeMs: 60_000 });
    expect(sent[0]?.method).toBe('POST');
    expect(String(sent[0]?.body?.())).toContain('grant_type=refresh_token&refresh_token=refresh+me');
  });

  it('at another host receives credentials only if the Endpoint lists it, and anonymous requests always', async () => {
    const unnamed = service(basic, '{"token":"t"}', 'https://r.io', []);
    await expect(unnamed.tokens.fetch(request, signal)).rejects.toMatchObject({
      reason: 'config',
      message: expect.stringContaining('auth.io, which does not receive the credentials'),
    });
    expect(unnamed.sent).toEqual([]);
    const anonymous = service({ kind: 'none' }, '{"token":"t"}', 'https://r.io', []);
    expect(await anonymous.tokens.fetch(request, signal)).toMatchObject({ value: 't' });
  });

  it.each(['https://auth.io/token', 'https://x.r.io/token', 'https://r.io:8443/token'])(
    'at %s, another server than the registry, does not receive the pod identity',
    async (realm) => {
      let issued = 0;
      const fetch = async () => {
        issued += 1;
        return { kind: 'identity', token: 'x' } as const;
      };
      const { sent, tokens } = service({ kind: 'cloud', owner: () => 'the pod', fetch }, '{"token":"t"}');
      const failed = tokens.fetch({ ...request, realm }, signal);
      await expect(failed).rejects.toThrow('which does not receive the identity of the pod');
      expect([sent, issued]).toEqual([[], 0]);
      expect(await tokens.fetch({ ...request, realm, anonymous: true }, signal)).toMatchObject({
        value: 't',
      });
      expect([sent[0]?.headers, issued]).toEqual([{}, 0]);
      expect(await tokens.fetch({ ...request, realm: 'https://r.io/token' }, signal)).toMatchObject({
        value: 't',
      });
      expect(issued).toBe(1);
    },
  );

  it.each([
    ['http://auth.io/token', 'the token service uses http'],
    ['ftp://auth.io', 'ftp:'],
    ['nonsense', 'not a URL'],
  ])('at %s receives no credentials of an https registry', async (realm, why) => {
    const { sent, tokens } = service(basic, '{}');
    await expect(tokens.fetch({ ...request, realm }, signal)).rejects.toThrow(why);
    expect(sent).toEqual([]);
  });

  it.each(['', '{}', '{"token":""}', 'null'])('that responds %j returns no token', async (answer) => {
    await expect(service(basic, answer).tokens.fetch(request, signal)).rejects.toThrow(
      'did not return a token',
    );
  });
});
