import { hash, randomBytes } from 'node:crypto';
import { ArcError } from '#shared/errors';
import { createExpiringCache } from './expiring-cache.ts';
import { maxCachedReviews, type PostReview, reviewDeadlineMs, reviewTtlMs } from './review.ts';
import type { User } from './user.ts';

/** Whose token it is; rejects with Unauthorized for nobody's, with ServiceUnavailable where nobody could be asked. */
export type ReviewToken = (token: string) => Promise<User>;

/** Asks the cluster whose token it is and believes the answer for 10 s. Tokens themselves are not kept. */
export function tokenReviewer(post: PostReview, now?: () => number): ReviewToken {
  const cache = createExpiringCache<User | undefined>({ max: maxCachedReviews, ...(now && { now }) });
  const salt = randomBytes(32).toString('base64');
  return async (token) => {
    const key = hash('sha256', salt + token, 'base64');
    const user = await cache.get(key, async () => ({ value: await ask(post, token), ttlMs: reviewTtlMs }));
    if (user === undefined) throw new ArcError('Unauthorized', 'Unauthorized');
    return user;
  };
}

async function ask(post: PostReview, token: string): Promise<User | undefined> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', plural: 'tokenreviews' };
  let answer: unknown;
  try {
    answer = await post({ ...review, spec: { token } }, AbortSignal.timeout(reviewDeadlineMs));
  } catch (caught) {
    const why = ArcError.from(caught).message;
    throw new ArcError('ServiceUnavailable', `the token could not be verified: ${why}`, { cause: caught });
  }
  const { status } = answer as { status?: { authenticated?: unknown; user?: ReviewedUser } };
  if (status?.authenticated !== true || typeof status.user?.username !== 'string') return undefined;
  const { username, uid, groups, extra } = status.user;
  if (username === '') return undefined;
  return { name: username, groups: groups ?? [], ...(uid && { uid }), ...(extra && { extra }) };
}

interface ReviewedUser {
  username?: unknown;
  uid?: string;
  groups?: string[];
  extra?: Record<string, string[]>;
}
