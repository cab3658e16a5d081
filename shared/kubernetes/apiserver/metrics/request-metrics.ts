import type { Labels, Metrics } from '#shared/base/telemetry';
import type { RequestsInFlight } from '../fairness/in-flight.ts';
import type { RequestLimits } from '../fairness/limits.ts';
import type { RefusalReason } from '../fairness/slots.ts';
import type { IncomingRequest } from '../http/connection.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import type { ApiRequest } from '../request/api-request.ts';

/** Counts requests under the names that dashboards of Kubernetes API servers use. */
export interface RequestMetrics {
  /** A request is over. */
  observe(request: ApiRequest, code: number): void;
  /** A watch began; call the result when it is over. */
  watchStarted(request: ApiRequest): () => void;
  /** One event went out to one watch. */
  watchEvent(definition: KindDefinition, bytes: number): void;
  /** A request met a limit of its user. */
  refused(reason: RefusalReason): void;
  /** Before an exposition: sets how many requests are in flight, and how many of them wait for a slot. */
  setInFlight(): void;
  /** Before an exposition: sets how many objects of a kind are stored. */
  setObjects(definition: KindDefinition, count: number): void;
}

const resourceLabels = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'];
/** Enough for verbs times kinds times codes; a bound because clients choose some of the values. */
const maxSeries = 5_000;
const durations = [
  0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60,
];
const sizes = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];
const eventSizes = [1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072];

export function requestMetrics(
  metrics: Metrics,
  inFlight: RequestsInFlight,
  { waiting }: Pick<RequestLimits, 'waiting'>,
): RequestMetrics {
  const total = metrics.counter({
    name: 'apiserver_request_total',
    help: 'Requests by verb, resource, and HTTP code.',
    labels: [...resourceLabels, 'dry_run', 'code'],
    maxSeries,
  });
  const duration = metrics.histogram({
    name: 'apiserver_request_duration_seconds',
    help: 'Time from receiving a request to the end of its response. Watches are left out.',
    labels: [...resourceLabels, 'dry_run'],
    buckets: durations,
    maxSeries,
  });
  const sli = metrics.histogram({
    name: 'apiserver_request_sli_duration_seconds',
    help: 'As apiserver_request_duration_seconds, for service level indicators.',
    labels: resourceLabels,
    buckets: durations,
    maxSeries,
  });
  const responseSizes = metrics.histogram({
    name: 'apiserver_response_sizes',
    help: 'Bytes of responses to reads, as they were sent.',
    labels: resourceLabels,
    buckets: sizes,
    maxSeries,
  });
  const current = metrics.gauge({
    name: 'apiserver_current_inflight_requests',
    help: 'Requests in flight.',
    labels: ['request_kind'],
  });
  const dropped = metrics.counter({
    name: 'apiserver_dropped_requests_total',
    help: 'Requests refused because too many were in flight.',
    labels: ['request_kind'],
  });
  const refused = metrics.counter({
    name: 'apiserver_flowcontrol_rejected_requests_total',
    help: 'Requests refused with 429, by the limit of their user that they met.',
    labels: ['reason'],
  });
  const inQueue = metrics.gauge({
    name: 'apiserver_current_inqueue_requests',
    help: 'Requests that wait for a slot.',
    labels: ['request_kind'],
  });
  const longRunning = metrics.gauge({
    name: 'apiserver_longrunning_requests',
    help: 'Watches in progress.',
    labels: resourceLabels,
    maxSeries,
  });
  const events = metrics.counter({
    name: 'apiserver_watch_events_total',
    help: 'Events sent to watches.',
    labels: ['group', 'version', 'resource'],
  });
  const bytesOfEvents = metrics.histogram({
    name: 'apiserver_watch_events_sizes',
    help: 'Bytes of events sent to watches.',
    labels: ['group', 'version', 'resource'],
    buckets: eventSizes,
  });
  const stored = metrics.gauge({
    name: 'apiserver_resource_objects',
    help: 'Objects stored.',
    labels: ['group', 'resource'],
  });

  return {
    observe(request, code) {
      const labels = labelsOf(request);
      const dryRun = request.query.get('dryRun') === 'All' ? 'All' : '';
      total.inc({ ...labels, dry_run: dryRun, code });
      if (!request.isLongRunning) {
        const seconds = (performance.now() - request.startedAt) / 1000;
        duration.observe(seconds, { ...labels, dry_run: dryRun });
        sli.observe(seconds, labels);
      }
      const bytes = request.bytesWritten;
      const isRead = labels.verb === 'GET' || labels.verb === 'LIST';
      if (isRead && bytes !== undefined) responseSizes.observe(bytes, labels);
      if (code === 429) dropped.inc({ request_kind: request.raw.method === 'GET' ? 'readOnly' : 'mutating' });
    },
    watchStarted(request) {
      const labels = labelsOf(request);
      longRunning.add(1, labels);
      return () => longRunning.add(-1, labels);
    },
    watchEvent({ group, version, plural }, bytes) {
      const labels = { group, version, resource: plural };
      events.inc(labels);
      bytesOfEvents.observe(bytes, labels);
    },
    refused: (reason) => refused.inc({ reason }),
    setInFlight() {
      for (const kind of ['readOnly', 'mutating'] as const) {
        current.set(inFlight.running[kind], { request_kind: kind });
        inQueue.set(waiting[kind], { request_kind: kind });
      }
    },
    setObjects: ({ group, plural }, number) => stored.set(number, { group, resource: plural }),
  };
}

const methods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS']);

/** Labels of a request. An unknown method becomes `other`. */
function labelsOf({ raw, info }: ApiRequest): Labels & { verb: string } {
  const component = 'apiserver';
  const method = methods.has(raw.method) ? raw.method : 'other';
  if (!info?.isResourceRequest) {
    const none = { group: '', version: '', resource: '', subresource: '', scope: '' };
    return { verb: method, ...none, component };
  }
  const { verb, group, version, resource, subresource, namespace, name } = info;
  const scope = name !== '' ? 'resource' : namespace !== '' ? 'namespace' : 'cluster';
  return {
    verb: verbLabel(verb, raw, method),
    group,
    version,
    resource,
    subresource,
    scope,
    component,
  };
}

function verbLabel(verb: string, raw: IncomingRequest, method: string): string {
  if (verb === 'list' || verb === 'watch' || verb === 'deletecollection') return verb.toUpperCase();
  const isApply = raw.headers.get('content-type')?.startsWith('application/apply-patch') === true;
  return verb === 'patch' && isApply ? 'APPLY' : method;
}
