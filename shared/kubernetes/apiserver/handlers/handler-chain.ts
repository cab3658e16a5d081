import { ArcError } from '#shared/base/errors';
import type { Auditor, RequestAudit } from '../audit/auditor.ts';
import { type Authenticator, authenticateRequest } from '../authentication/authenticator.ts';
import type { User } from '../authentication/user/user.ts';
import { type Attributes, impersonate, isAlwaysAllowed, mustBeAllowed } from '../authorization/authorizer.ts';
import { isServerError } from '../errors/status.ts';
import { type RequestsInFlight, requestKindOf } from '../fairness/in-flight.ts';
import type { RequestLimits } from '../fairness/limits.ts';
import type { Measure } from '../metrics/auth-metrics.ts';
import type { RequestMetrics } from '../metrics/request-metrics.ts';
import type { ApiRequest } from '../request/api-request.ts';
import {
  definitionFor,
  hasDotSegments,
  isTrue,
  type RequestInfo,
  requestInfo,
} from '../request/request-info.ts';
import { respondError } from '../response/respond.ts';
import { handleResource } from './routes.ts';

/** The links of the chain beside the handlers of resources. */
export interface HandlerChain {
  authenticate: Authenticator;
  inFlight: RequestsInFlight;
  limits: RequestLimits;
  /** Answers paths that name no resource; undefined where nothing is served there. */
  handlePath(request: ApiRequest): Promise<Response | undefined>;
  auditor: Auditor | undefined;
  metrics:
    | { requests: RequestMetrics; authentication: Measure<User>; authorization: Measure<void> }
    | undefined;
}

/**
 * Takes every request through the filters of an API server in the order of k8s.io/apiserver (authentication, limits of
 * the user, impersonation, audit, authorization) to its handler. Never rejects: failures become Status bodies.
 */
export function handlerChain(chain: HandlerChain): (request: ApiRequest) => Promise<Response> {
  const { auditor, metrics } = chain;
  return async (request) => {
    const audit = auditor?.(request);
    let failure: unknown;
    const response = await answer(chain, request, audit).catch((caught: unknown) => {
      failure = caught;
      return respondFailure(request, caught);
    });
    response.headers.set('Audit-Id', request.auditId);
    if (!response.headers.has('Cache-Control')) response.headers.set('Cache-Control', 'no-cache, private');
    if (request.server.closing.aborted || request.closesConnection)
      response.headers.set('Connection', 'close');
    if (metrics) request.onEnd(() => metrics.requests.observe(request, response.status));
    if (audit) finishAudit(request, audit, response, failure);
    return response;
  };
}

async function answer(
  { authenticate, inFlight, limits, handlePath, metrics }: HandlerChain,
  request: ApiRequest,
  audit: RequestAudit | undefined,
): Promise<Response> {
  const { raw, connection, server } = request;
  const authenticated = () => authenticateRequest(authenticate, raw, connection);
  const caller = await (metrics ? metrics.authentication(authenticated) : authenticated());
  request.authenticatedUser = caller;
  request.user = caller;
  const info = requestInfo(raw.method, request.url);
  request.info = info;
  if (hasDotSegments(request.target)) return pageNotFound();
  const kind = isFollowing(request, info) ? 'longRunning' : requestKindOf(info.verb);
  request.isLongRunning = kind === 'longRunning';
  request.onEnd(inFlight.begin(kind));
  const use = isAlwaysAllowed(caller, info) ? limits.exempt : limits.begin(request, caller, kind);
  request.use = use;
  // A write to a resource takes its slot when its body is there: see handleResource.
  if (kind === 'readOnly' || !info.isResourceRequest) await use.takeSlot();
  const isWatch = info.isResourceRequest && info.verb === 'watch';
  if (isWatch && metrics) request.onEnd(metrics.requests.watchStarted(request));
  const user = await impersonate(server.authorize, caller, raw, connection);
  request.user = user;
  audit?.requestReceived();
  const authorized = () => authorizeRequest(request, user, info);
  await (metrics ? metrics.authorization(authorized) : authorized());
  if (!info.isResourceRequest) return (await handlePath(request)) ?? pageNotFound();
  const response = await handleResource(request, info, user);
  if (isWatch && response?.ok) audit?.responseStarted(response.status);
  return response ?? pageNotFound();
}

/** True for a text that is read while it is written. */
function isFollowing({ query, server }: ApiRequest, info: RequestInfo): boolean {
  if (!info.isResourceRequest || info.subresource === '' || !isTrue(query.get('follow'))) return false;
  const texts = definitionFor(server.kinds, info)?.texts ?? [];
  return info.verb === 'get' && texts.some(({ name, follow }) => follow && name === info.subresource);
}

/** Rejects with Forbidden unless the user may; records the decision in the request. */
async function authorizeRequest(request: ApiRequest, user: User, attributes: Attributes): Promise<void> {
  try {
    const reason = await mustBeAllowed(request.server.authorize, user, attributes);
    request.decision = { allowed: true, reason };
  } catch (caught) {
    if (ArcError.is(caught, 'Forbidden')) request.decision = { allowed: false, reason: '' };
    throw caught;
  }
}

/** Records the outcome: of a watch when it is over, as the watch itself is the response. */
function finishAudit(request: ApiRequest, audit: RequestAudit, response: Response, failure: unknown): void {
  audit.requestReceived(); // for requests that failed before
  if (failure !== undefined && !(failure instanceof ArcError)) {
    audit.panic();
    return;
  }
  const record = () =>
    audit
      .responseComplete(response, failure)
      .catch((caught: unknown) =>
        request.server.log('a request could not be recorded in the audit log', caught),
      );
  if (request.info?.verb === 'watch' && response.ok) request.onEnd(() => void record());
  else void record();
}

function respondFailure({ server, raw, url, warnings }: ApiRequest, caught: unknown): Response {
  if (!(caught instanceof ArcError) || isServerError(caught))
    server.log(`${raw.method} ${url.pathname} failed`, caught);
  return respondError(caught, raw, warnings);
}

function pageNotFound(): Response {
  return new Response('404 page not found\n', {
    status: 404,
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' },
  });
}
