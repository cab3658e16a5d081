import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import type { Review } from '../authentication/review.ts';
import type { Attributes } from './authorizer.ts';
import { delegatedAuthorizer } from './delegated.ts';

const jo = { name: 'jo', groups: ['g'], extra: { a: ['b'] } };
const get: Attributes = {
  isResourceRequest: true,
  verb: 'get',
  group: 'g',
  version: 'v1',
  resource: 'things',
  subresource: 'status',
  namespace: 'ns',
  name: 'it',
};

function authorizer(answer: () => unknown) {
  const asked: Review[] = [];
  const clock = { now: 0 };
  const authorize = delegatedAuthorizer(
    async (question) => {
      asked.push(question);
      return answer();
    },
    () => clock.now,
  );
  return { authorize, asked, clock };
}

describe('delegatedAuthorizer', () => {
  it('sends all attributes, and caches an answer for 10 s', async () => {
    const { authorize, asked, clock } = authorizer(() => ({ status: { allowed: true } }));
    expect(await authorize(jo, get)).toEqual({ allowed: true });
    clock.now = 9_999;
    await authorize(jo, get);
    expect(asked).toHaveLength(1);
    expect(asked[0]?.spec).toEqual({
      user: 'jo',
      groups: ['g'],
      extra: { a: ['b'] },
      resourceAttributes: {
        verb: 'get',
        group: 'g',
        version: 'v1',
        resource: 'things',
        subresource: 'status',
        namespace: 'ns',
        name: 'it',
      },
    });
    clock.now = 10_000;
    await authorize(jo, get);
    await authorize({ ...jo, groups: [] }, get);
    expect(asked).toHaveLength(3);
  });

  it('reviews paths', async () => {
    const { authorize, asked } = authorizer(() => ({ status: { allowed: false, reason: 'no' } }));
    expect(await authorize(jo, { isResourceRequest: false, verb: 'get', path: '/metrics' })).toEqual({
      allowed: false,
      reason: 'no',
    });
    expect(asked[0]?.spec).toMatchObject({ nonResourceAttributes: { path: '/metrics', verb: 'get' } });
  });

  it.each([{}, { status: {} }, { status: { allowed: 'true' } }, { status: { allowed: true, denied: true } }])(
    'does not allow on %j',
    async (answer) => {
      expect((await authorizer(() => answer).authorize(jo, get)).allowed).toBe(false);
    },
  );

  it('rejects when the review fails, and repeats it at the next request', async () => {
    const { authorize, asked } = authorizer(() => {
      throw new ArcError('Timeout', 'no answer');
    });
    await expect(authorize(jo, get)).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    await expect(authorize(jo, get)).rejects.toMatchObject({ code: 'ServiceUnavailable' });
    expect(asked).toHaveLength(2);
  });
});
