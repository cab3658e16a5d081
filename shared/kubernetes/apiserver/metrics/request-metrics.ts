import type { Labels, Metrics } from '#shared/base/telemetry';
import type { RequestsInFlight } from '../fairness/in-flight.ts';
import type { RequestLimits } from '../fairness/limits.ts';
import type { RefusalReason } from '../fairness/slots.ts';
import type { IncomingRequest } from '../http/connection.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import type { ApiRequest } from '../request/api-request.ts';

/** Records request metrics under the names of kube-apiserver, for its dashboards. */
export interface RequestMetrics {
  /** Records a finished request. */
  observe(request: ApiRequest, code: number): void;
  /** Records a started watch. The returned function must be called when it ends. */
  watchStarted(request: ApiRequest): () => void;
  /** Records an event sent to a watch. */
  watchEvent(definition: KindDefinition, bytes: number): void;
  /** Records a request refused by a limit. */
  refused(reason: RefusalReason): void;
  /** Updates the gauges of requests in flight and queued requests, before an exposition. */
  setInFlight(): void;
  /** Updates the gauge of stored objects of a kind, before an exposition. */
  setObjects(definition: KindDefinition, count: number): void;
}

const resourceLabels = ['verb', 'group', 'version', 'resource', 'subresource', 'scope', 'component'];
/** Limit of series, because clients choose some label values; suffices for verbs × kinds × codes. */
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
    help: 'Duration from receiving a request to the end of its response, without watches.',
    labels: [...resourceLabels, 'dry_run'],
    buckets: durations,
    maxSeries,
  });
  const sli = metrics.histogram({
    name: 'apiserver_request_sli_duration_seconds',
    help: 'Same as apiserver_request_duration_seconds, for service level indicators.',
    labels: resourceLabels,
    buckets: durations,
    maxSeries,
  });
  const responseSizes = metrics.histogram({
    name: 'apiserver_response_sizes',
    help: 'Size of responses to reads in bytes, as sent.',
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
    help: 'Requests refused with 429, by the exceeded limit.',
    labels: ['reason'],
  });
  const inQueue = metrics.gauge({
    name: 'apiserver_current_inqueue_requests',
    help: 'Requests queued for a slot.',
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
    help: 'Size of events sent to watches in bytes.',
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

/** Returns the labels of a request. An unknown method becomes `other`. */
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
