import { ArcError } from '#shared/errors';
import { createExpiringCache } from '../authentication/expiring-cache.ts';
import {
  maxCachedReviews,
  type PostReview,
  reviewDeadlineMs,
  reviewTtlMs,
} from '../authentication/review.ts';
import type { User } from '../authentication/user.ts';
import type { Attributes, Authorizer } from './authorizer.ts';

type Decision = Awaited<ReturnType<Authorizer>>;

/**
 * Asks the cluster by SubjectAccessReview and believes the answer for 10 s, either way. Where nobody answers the request is
 * refused with ServiceUnavailable: a failure never allows.
 */
export function delegatedAuthorizer(post: PostReview, now?: () => number): Authorizer {
  const cache = createExpiringCache<Decision>({ max: maxCachedReviews, ...(now && { now }) });
  return (user, attributes) => {
    const spec = specOf(user, attributes);
    return cache.get(JSON.stringify(spec), async () => ({
      value: await ask(post, spec),
      ttlMs: reviewTtlMs,
    }));
  };
}

function specOf(user: User, attributes: Attributes): object {
  const { name, groups, uid, extra } = user;
  const who = { user: name, groups, ...(uid && { uid }), ...(extra && { extra }) };
  if (!attributes.isResourceRequest) {
    const { path, verb } = attributes;
    return { ...who, nonResourceAttributes: { path, verb } };
  }
  const { namespace, verb, group, version, resource, subresource, name: object } = attributes;
  const resourceAttributes = { namespace, verb, group, version, resource, subresource, name: object };
  return { ...who, resourceAttributes };
}

async function ask(post: PostReview, spec: object): Promise<Decision> {
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    plural: 'subjectaccessreviews',
    spec,
  };
  let answer: unknown;
  try {
    answer = await post(review, AbortSignal.timeout(reviewDeadlineMs));
  } catch (caught) {
    const why = ArcError.from(caught).message;
    throw new ArcError('ServiceUnavailable', `the request could not be authorized: ${why}`, {
      cause: caught,
    });
  }
  const { status } = answer as { status?: { allowed?: unknown; denied?: unknown; reason?: unknown } };
  const reason = typeof status?.reason === 'string' ? status.reason : '';
  return { allowed: status?.allowed === true && status.denied !== true, ...(reason && { reason }) };
}
