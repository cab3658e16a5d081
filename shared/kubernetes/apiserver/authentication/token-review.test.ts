import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import type { Review } from './review.ts';
import { tokenReviewer } from './token-review.ts';

function reviewer(answer: (token: string) => unknown) {
  const asked: Review[] = [];
  const clock = { now: 0 };
  const review = tokenReviewer(
    async (question) => {
      asked.push(question);
      return answer((question.spec as { token: string }).token);
    },
    () => clock.now,
  );
  return { review, asked, clock };
}

const jo = {
  status: { authenticated: true, user: { username: 'jo', groups: ['g'], uid: 'u', extra: { a: ['b'] } } },
};

describe('tokenReviewer', () => {
  it('posts one review in 10 s, also for concurrent requests', async () => {
    const { review, asked, clock } = reviewer(() => jo);
    const users = await Promise.all([review('t'), review('t')]);
    clock.now = 9_999;
    users.push(await review('t'));
    expect(users).toEqual(Array(3).fill({ name: 'jo', groups: ['g'], uid: 'u', extra: { a: ['b'] } }));
    expect(asked).toHaveLength(1);
    expect(asked[0]).toMatchObject({ kind: 'TokenReview', spec: { token: 't' } });
    clock.now = 10_000;
    await review('t');
    expect(asked).toHaveLength(2);
  });

  it('caches refusals equally long', async () => {
    const { review, asked } = reviewer(() => ({
      status: { authenticated: false, user: { username: 'jo' } },
    }));
    await expect(review('t')).rejects.toMatchObject({ code: 'Unauthorized' });
    await expect(review('t')).rejects.toMatchObject({ code: 'Unauthorized' });
    expect(asked).toHaveLength(1);
  });

  it.each([undefined, {}, { status: null }, { status: { authenticated: true, user: {} } }])(
    'takes the answer %j for a refusal',
    async (answer) => {
      await expect(reviewer(() => answer ?? {}).review('t')).rejects.toMatchObject({ code: 'Unauthorized' });
    },
  );

  it('limits reviews of an address that sends invalid tokens, without affecting other addresses', async () => {
    const { review, asked, clock } = reviewer((token) =>
      token.startsWith('good') ? jo : { status: { authenticated: false } },
    );
    await review('good', '10.0.0.1');
    const codes = new Map<string, number>();
    for (let at = 0; at < 1_000; at += 1)
      await review(`bad-${at}`, '10.0.0.1').catch(({ code }: ArcError) =>
        codes.set(code, (codes.get(code) ?? 0) + 1),
      );
    expect(Object.fromEntries(codes)).toEqual({ Unauthorized: 50, TooManyRequests: 950 });
    expect(asked).toHaveLength(51);
    // What is cached is served, what was refused is refused, and another client is not concerned.
    expect(await review('good', '10.0.0.1')).toMatchObject({ name: 'jo' });
    await expect(review('bad-0', '10.0.0.1')).rejects.toMatchObject({ code: 'Unauthorized' });
    expect(await review('good-2', '10.0.0.2')).toMatchObject({ name: 'jo' });
    clock.now = 2_000;
    expect(await review('good-3', '10.0.0.1')).toMatchObject({ name: 'jo' });
  });

  it('reports a failed review without the token, and does not cache the failure', async () => {
    let broken = true;
    const { review } = reviewer(() => {
      if (broken) throw new ArcError('Timeout', 'no answer');
      return jo;
    });
    const failure = await review('s3cret').catch((caught: unknown) => caught);
    expect(failure).toMatchObject({ code: 'ServiceUnavailable' });
    expect(String(failure)).not.toContain('s3cret');
    broken = false;
    expect(await review('s3cret')).toMatchObject({ name: 'jo' });
  });
});
