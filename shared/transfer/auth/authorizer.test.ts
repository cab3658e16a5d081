import { describe, expect, it } from 'vitest';
import { TransferError } from '../errors/transfer-error.ts';
import { createAuthorizer } from './authorizer.ts';
import type { TokenRequest } from './token-service.ts';

const signal = new AbortController().signal;
const basic = { kind: 'basic', username: 'bob', password: 'x' } as const;
const bearer = 'Bearer realm="https://auth.r.io/token",service="r.io"';

function service(lifetimeMs = 60_000) {
  const asked: TokenRequest[] = [];
  return {
    asked,
    fetch: async (request: TokenRequest) => {
      asked.push(request);
      return { value: `t${asked.length}`, lifetimeMs };
    },
  };
}

describe('authorization', () => {
  it('sends nothing before a challenge, then the required credentials', async () => {
    const tokens = service();
    const authorizer = createAuthorizer(basic, tokens);
    expect(await authorizer.header(['b', 'a'], signal)).toBeUndefined();
    expect(authorizer.challenged(bearer, ['b', 'a'], undefined)).toBe(true);
    expect(await authorizer.header(['b', 'a'], signal)).toBe('Bearer t1');
    expect(tokens.asked).toEqual([{ realm: 'https://auth.r.io/token', service: 'r.io', scopes: ['a', 'b'] }]);
  });

  it('fetches one token for many requests with the same scopes, and another when it has expired', async () => {
    let now = 0;
    const tokens = service(1000);
    const authorizer = createAuthorizer(basic, tokens, () => now);
    authorizer.challenged(bearer, ['a'], undefined);
    await Promise.all([authorizer.header(['a'], signal), authorizer.header(['a'], signal)]);
    await authorizer.header(['c'], signal);
    expect(tokens.asked).toHaveLength(2);
    now = 950;
    expect(await authorizer.header(['a'], signal)).toBe('Bearer t3');
  });

  it('drops a refused token, but not the new one that another request fetched meanwhile', async () => {
    const tokens = service();
    const authorizer = createAuthorizer(basic, tokens);
    authorizer.challenged(bearer, ['a'], undefined);
    const stale = await authorizer.header(['a'], signal);
    authorizer.challenged(bearer, ['a'], stale);
    const fresh = await authorizer.header(['a'], signal);
    authorizer.challenged(bearer, ['a'], stale);
    expect(await authorizer.header(['a'], signal)).toBe(fresh);
  });

  it('does not cache a failed token request', async () => {
    let fail = true;
    const authorizer = createAuthorizer(basic, {
      fetch: async () => {
        if (fail) throw new Error('down');
        return { value: 't', lifetimeMs: 1000 };
      },
    });
    authorizer.challenged(bearer, ['a'], undefined);
    await expect(authorizer.header(['a'], signal)).rejects.toThrow('down');
    fail = false;
    expect(await authorizer.header(['a'], signal)).toBe('Bearer t');
  });

  it('does not repeat a refused header', async () => {
    const authorizer = createAuthorizer(basic, service());
    expect(authorizer.challenged('Basic realm="x"', [], undefined)).toBe(true);
    const sent = await authorizer.header([], signal);
    expect(authorizer.challenged('Basic realm="x"', [], sent)).toBe(false);
    expect(createAuthorizer({ kind: 'none' }, service()).challenged('Basic realm="x"', [], undefined)).toBe(
      false,
    );
    const token = createAuthorizer({ kind: 'token', token: 'abc' }, service());
    expect(await token.header([], signal)).toBe('Bearer abc');
    expect(token.challenged(bearer, [], 'Bearer abc')).toBe(false);
  });
});

describe('a pod identity where public content needs an anonymous token', () => {
  const fetch = async () => ({ kind: 'identity', token: 'x' }) as const;
  const cloud = { kind: 'cloud', owner: () => 'the pod', fetch, tokensForAll: true } as const;

  it('is used after a request with the anonymous token was refused', async () => {
    const tokens = service();
    const authorizer = createAuthorizer(cloud, tokens);
    authorizer.challenged(bearer, ['a'], undefined);
    const nobody = await authorizer.header(['a'], signal);
    expect(await authorizer.header(['a'], signal)).toBe(nobody);
    expect(authorizer.challenged(bearer, ['a'], nobody)).toBe(true);
    expect(await authorizer.header(['a'], signal)).toBe('Bearer t2');
    expect(tokens.asked.map(({ anonymous }) => anonymous)).toEqual([true, undefined]);
  });

  it.each(['auth', 'denied'] as const)('is shown when anybody gets no token: %s', async (reason) => {
    const asked: boolean[] = [];
    const authorizer = createAuthorizer(cloud, {
      fetch: async ({ anonymous = false }) => {
        asked.push(anonymous);
        if (anonymous) throw new TransferError(reason, 'no');
        return { value: 't', lifetimeMs: 60_000 };
      },
    });
    authorizer.challenged(bearer, ['a'], undefined);
    const both = [authorizer.header(['a'], signal), authorizer.header(['a'], signal)];
    expect(await Promise.all(both)).toEqual(['Bearer t', 'Bearer t']);
    expect(await authorizer.header(['b'], signal)).toBe('Bearer t');
    expect(asked).toEqual([true, false, false]);
  });

  it('is not used because the token service has a problem', async () => {
    const authorizer = createAuthorizer(cloud, {
      fetch: async ({ anonymous }) => {
        expect(anonymous).toBe(true);
        throw new TransferError('retryable', 'down');
      },
    });
    authorizer.challenged(bearer, ['a'], undefined);
    await expect(authorizer.header(['a'], signal)).rejects.toThrow('down');
    await expect(authorizer.header(['a'], signal)).rejects.toThrow('down');
  });
});
