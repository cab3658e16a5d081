import { hash, randomBytes } from 'node:crypto';
import { ArcError } from '#shared/base/errors';
import { cachedReviews, type PostReview } from './review.ts';
import { limitUnknownTokens } from './unknown-tokens.ts';
import type { User } from './user/user.ts';

/**
 * Resolves with the user of a token. Rejects with Unauthorized for an invalid token, ServiceUnavailable if the review failed, and
 * TooManyRequests if the client's address has sent too many invalid tokens. `address` is undefined for in-process calls.
 */
export type ReviewToken = (token: string, address?: string) => Promise<User>;

/** Authenticates tokens by TokenReview, cached for 10 s under a hash of the token. Only reviews of uncached tokens are rate limited. */
export function tokenReviewer(post: PostReview, now?: () => number): ReviewToken {
  const review = cachedReviews<User | undefined>(now);
  const salt = randomBytes(32).toString('base64');
  const budget = limitUnknownTokens(now);
  return async (token, address) => {
    const key = hash('sha256', salt + token, 'base64');
    const user = await review(key, async (signal) => {
      const giveBack = budget.take(address);
      const found = await reviewToken(post, token, signal);
      if (found !== undefined) giveBack();
      return found;
    });
    if (user === undefined) throw new ArcError('Unauthorized', 'Unauthorized');
    return user;
  };
}

async function reviewToken(post: PostReview, token: string, signal: AbortSignal): Promise<User | undefined> {
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', plural: 'tokenreviews' };
  let response: unknown;
  try {
    response = await post({ ...review, spec: { token } }, signal);
  } catch (caught) {
    const reason = ArcError.from(caught).message;
    throw new ArcError('ServiceUnavailable', `the token could not be verified: ${reason}`, { cause: caught });
  }
  const { status } = response as { status?: { authenticated?: unknown; user?: ReviewedUser } };
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
