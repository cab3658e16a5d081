import { ArcError } from '#shared/base/errors';
import { cachedReviews, type PostReview } from '../authentication/review.ts';
import type { User } from '../authentication/user/user.ts';
import type { Attributes, Authorizer } from './authorizer.ts';

type Decision = Awaited<ReturnType<Authorizer>>;

/**
 * Returns an authorizer that posts SubjectAccessReviews to the cluster and caches decisions for 10 s. Fails closed: rejects with
 * ServiceUnavailable if a review fails.
 */
export function delegatedAuthorizer(post: PostReview, now?: () => number): Authorizer {
  const review = cachedReviews<Decision>(now);
  return (user, attributes) => {
    const spec = specOf(user, attributes);
    return review(JSON.stringify(spec), (signal) => reviewAccess(post, spec, signal));
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

async function reviewAccess(post: PostReview, spec: object, signal: AbortSignal): Promise<Decision> {
  const review = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    plural: 'subjectaccessreviews',
    spec,
  };
  let response: unknown;
  try {
    response = await post(review, signal);
  } catch (caught) {
    const reason = ArcError.from(caught).message;
    throw new ArcError('ServiceUnavailable', `the request could not be authorized: ${reason}`, {
      cause: caught,
    });
  }
  const { status } = response as { status?: { allowed?: unknown; denied?: unknown; reason?: unknown } };
  const reason = typeof status?.reason === 'string' ? status.reason : '';
  return { allowed: status?.allowed === true && status.denied !== true, ...(reason && { reason }) };
}
