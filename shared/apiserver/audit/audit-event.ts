import { isoMicroseconds } from '#shared/meta';
import type { Exchange } from '../request/exchange.ts';
import type { AuditChoice, Stage } from './audit-policy.ts';

/** What an audit.k8s.io/v1 Event tells at every level. @param notes annotations of its stage */
export function auditEvent(
  exchange: Exchange,
  choice: AuditChoice,
  stage: Stage,
  now: Date,
  notes: Readonly<Record<string, string>> = {},
): object {
  const { attributes, created, asking, user, decision, connection, request, url } = exchange;
  const impersonated = user !== undefined && asking !== undefined && user !== asking;
  const agent = request.headers.get('user-agent');
  return {
    kind: 'Event',
    apiVersion: 'audit.k8s.io/v1',
    level: choice.level,
    auditID: exchange.auditId,
    stage,
    requestURI: `${url.pathname}${url.search}`,
    verb: attributes?.verb ?? request.method.toLowerCase(),
    user: userInfo(asking),
    ...(impersonated && { impersonatedUser: userInfo(user) }),
    ...(connection && { sourceIPs: [connection.address] }),
    ...(agent !== null && { userAgent: agent.slice(0, 1024) }),
    ...(attributes?.resource && { objectRef: objectRef(attributes, created) }),
    requestReceivedTimestamp: isoMicroseconds(exchange.receivedAt),
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

function userInfo(user: Exchange['user']): object {
  if (user === undefined) return {};
  const { name, groups, uid, extra } = user;
  return { username: name, groups, ...(uid && { uid }), ...(extra && { extra }) };
}

/** @param created names what a request to a collection has made */
function objectRef(
  attributes: Extract<NonNullable<Exchange['attributes']>, { resource: true }>,
  created: Exchange['created'],
): object {
  const { plural, namespace, group, version, subresource } = attributes;
  const { name = attributes.name, uid } = created ?? {};
  return {
    resource: plural,
    ...(namespace && { namespace }),
    ...(name && { name }),
    ...(uid && { uid }),
    ...(group && { apiGroup: group }),
    apiVersion: version,
    ...(subresource && { subresource }),
  };
}
