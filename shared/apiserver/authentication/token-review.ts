import { hash, randomBytes } from 'node:crypto';
import { ArcError } from '#shared/errors';
import { cachedReviews, type PostReview } from './review.ts';
import type { User } from './user.ts';

/** Resolves with the token's user; rejects with Unauthorized for an invalid token and ServiceUnavailable if the review failed. */
export type ReviewToken = (token: string) => Promise<User>;

/** Authenticates tokens by TokenReview, cached for 10 s under a hash of the token. */
export function tokenReviewer(post: PostReview, now?: () => number): ReviewToken {
  const review = cachedReviews<User | undefined>(now);
  const salt = randomBytes(32).toString('base64');
  return async (token) => {
    const key = hash('sha256', salt + token, 'base64');
    const user = await review(key, (signal) => ask(post, token, signal));
    if (user === undefined) throw new ArcError('Unauthorized', 'Unauthorized');
    return user;
  };
}

async function ask(post: PostReview, token: string, signal: AbortSignal): Promise<User | undefined> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', plural: 'tokenreviews' };
  let answer: unknown;
  try {
    answer = await post({ ...review, spec: { token } }, signal);
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
