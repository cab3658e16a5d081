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

/** The filters of the chain, and the handler of non-resource paths. */
export interface HandlerChain {
  authenticate: Authenticator;
  inFlight: RequestsInFlight;
  limits: RequestLimits;
  /** Serves non-resource paths; undefined if the path is not served. */
  handlePath(request: ApiRequest): Promise<Response | undefined>;
  auditor: Auditor | undefined;
  metrics:
    | { requests: RequestMetrics; authentication: Measure<User>; authorization: Measure<void> }
    | undefined;
}

/**
 * Returns the handler of all requests. Runs the filters in the order of k8s.io/apiserver (authentication, priority and fairness,
 * impersonation, audit, authorization), then the handler of the resource. Never rejects: errors become Status bodies.
 */
export function handlerChain(chain: HandlerChain): (request: ApiRequest) => Promise<Response> {
  const { auditor, metrics } = chain;
  return async (request) => {
    const audit = auditor?.(request);
    let failure: unknown;
    const response = await runChain(chain, request, audit).catch((caught: unknown) => {
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

async function runChain(
  { authenticate, inFlight, limits, handlePath, metrics }: HandlerChain,
  request: ApiRequest,
  audit: RequestAudit | undefined,
): Promise<Response> {
  const { raw, connection, server } = request;
  const runAuthentication = () => authenticateRequest(authenticate, raw, connection);
  const caller = await (metrics ? metrics.authentication(runAuthentication) : runAuthentication());
  request.authenticatedUser = caller;
  request.user = caller;
  const info = requestInfo(raw.method, request.url);
  request.info = info;
  if (hasDotSegments(request.target)) return pageNotFound();
  const kind = followsText(request, info) ? 'longRunning' : requestKindOf(info.verb);
  request.isLongRunning = kind === 'longRunning';
  request.onEnd(inFlight.begin(kind));
  const use = isAlwaysAllowed(caller, info) ? limits.exempt : limits.begin(request, caller, kind);
  request.fairUse = use;
  // A write to a resource takes its slot after its body has arrived: see handleResource.
  if (kind === 'readOnly' || !info.isResourceRequest) await use.takeSlot();
  const isWatch = info.isResourceRequest && info.verb === 'watch';
  if (isWatch && metrics) request.onEnd(metrics.requests.watchStarted(request));
  const user = await impersonate(server.authorize, caller, raw, connection);
  request.user = user;
  audit?.requestReceived();
  const runAuthorization = () => authorizeRequest(request, user, info);
  await (metrics ? metrics.authorization(runAuthorization) : runAuthorization());
  if (!info.isResourceRequest) return (await handlePath(request)) ?? pageNotFound();
  const response = await handleResource(request, info, user);
  if (isWatch && response?.ok) audit?.responseStarted(response.status);
  return response ?? pageNotFound();
}

/** Tells whether a request streams a text subresource with `follow`. */
function followsText({ query, server }: ApiRequest, info: RequestInfo): boolean {
  if (!info.isResourceRequest || info.subresource === '' || !isTrue(query.get('follow'))) return false;
  const texts = definitionFor(server.kinds, info)?.texts ?? [];
  return info.verb === 'get' && texts.some(({ name, follow }) => follow && name === info.subresource);
}

/** Rejects with Forbidden if the user lacks permission; stores the decision in the request. */
async function authorizeRequest(request: ApiRequest, user: User, attributes: Attributes): Promise<void> {
  try {
    const reason = await mustBeAllowed(request.server.authorize, user, attributes);
    request.decision = { allowed: true, reason };
  } catch (caught) {
    if (ArcError.is(caught, 'Forbidden')) request.decision = { allowed: false, reason: '' };
    throw caught;
  }
}

/** Writes the ResponseComplete event; for a watch, when the watch ends. */
function finishAudit(request: ApiRequest, audit: RequestAudit, response: Response, failure: unknown): void {
  audit.requestReceived(); // no-op unless the request failed before this stage
  if (failure !== undefined && !(failure instanceof ArcError)) {
    audit.panic();
    return;
  }
  const record = () =>
    audit
      .responseComplete(response, failure)
      .catch((caught: unknown) => request.server.log('failed to write an audit event', caught));
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
