import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/errors';
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
