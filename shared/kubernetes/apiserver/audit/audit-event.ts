import { isoMicroseconds } from '#shared/base/meta';
import type { User } from '../authentication/user/user.ts';
import type { ApiRequest } from '../request/api-request.ts';
import type { ResourceRequestInfo } from '../request/request-info.ts';
import type { AuditChoice, Stage } from './audit-policy.ts';

/** Returns the fields of an audit.k8s.io/v1 Event at level Metadata. @param notes annotations of the stage */
export function auditEvent(
  request: ApiRequest,
  choice: AuditChoice,
  stage: Stage,
  now: Date,
  notes: Readonly<Record<string, string>> = {},
): object {
  const { info, created, authenticatedUser, user, decision, connection, raw, url } = request;
  const isImpersonated = user !== undefined && authenticatedUser !== undefined && user !== authenticatedUser;
  const agent = raw.headers.get('user-agent');
  return {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: choice.level,
    auditID: request.auditId,
    stage,
    requestURI: `${url.pathname}${url.search}`,
    verb: info?.verb ?? raw.method.toLowerCase(),
    user: userInfo(authenticatedUser),
    ...(isImpersonated && { impersonatedUser: userInfo(user) }),
    ...(connection && { sourceIPs: [connection.address] }),
    ...(agent !== null && { userAgent: agent.slice(0, 1024) }),
    ...(info?.isResourceRequest && { objectRef: objectRef(info, created) }),
    requestReceivedTimestamp: isoMicroseconds(request.receivedAt),
    stageTimestamp: isoMicroseconds(now),
    annotations: {
      ...(decision && {
        'authorization.k8s.io/decision': decision.allowed ? 'allow' : 'forbid',
        'authorization.k8s.io/reason': decision.reason,
      }),
      ...notes,
    },
  };
}

function userInfo(user: User | undefined): object {
  if (user === undefined) return {};
  const { name, groups, uid, extra } = user;
  return { username: name, groups, ...(uid && { uid }), ...(extra && { extra }) };
}

/** @param created metadata of the object that a create has stored */
function objectRef(info: ResourceRequestInfo, created: ApiRequest['created']): object {
  const { resource, namespace, group, version, subresource } = info;
  const { name = info.name, uid } = created ?? {};
  return {
    resource,
    ...(namespace && { namespace }),
    ...(name && { name }),
    ...(uid && { uid }),
    ...(group && { apiGroup: group }),
    apiVersion: version,
    ...(subresource && { subresource }),
  };
}
