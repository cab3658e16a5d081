import { ArcError } from '#shared/base/errors';
import {
  annotations,
  conduitNamespace,
  defaultRerunsPerMinute,
  group,
  type Order,
  type Settings,
} from '#shared/domain';
import type { AdmissionPlugin, AdmissionRequest, KubeObject } from '#shared/kubernetes/apiserver';

/** So many minutes' worth may be run again at once. */
const burstMinutes = 10;
/** Beyond so many namespaces, those that have their whole burst are forgotten. */
const mostKnown = 1_000;

/** What a namespace had left at a time. Less than 0: the last request took more than there was. */
interface Bucket {
  tokens: number;
  /** ms since the epoch. */
  at: number;
  /** Wishes that were paid for last: a write that loses a race is admitted again. */
  paid: ReadonlySet<string>;
}

const mostPaid = 100;

/**
 * Limits how much of a namespace `force` and `retry` run again, as annotations and as subresources: a token bucket in which a request costs as
 * many tokens as artifacts run again. The copies of `retry-at` that ARC makes on ArtifactWorkflows are paid for. Rejects with TooManyRequests.
 * Each server counts by itself.
 */
export function rerunRate(settings: () => Settings, now: () => Date): AdmissionPlugin {
  const buckets = new Map<string, Bucket>();

  /** Returns the seconds until the namespace may ask again; 0 if it may now. */
  const take = (request: AdmissionRequest, cost: number, perMinute: number): number => {
    const { namespace, dryRun } = request;
    const burst = burstMinutes * perMinute;
    const at = now().getTime();
    const before = buckets.get(namespace);
    const wish = wishOf(request);
    if (before?.paid.has(wish)) return 0;
    const tokens = tokensNow(before, burst, at);
    if (tokens < 1) return Math.ceil(((1 - tokens) / perMinute) * 60);
    if (dryRun) return 0;
    const paid = new Set([...(before?.paid ?? []), wish].slice(-mostPaid));
    buckets.set(namespace, { tokens: tokens - Math.min(cost, burst), at, paid });
    if (buckets.size > mostKnown)
      for (const [name, bucket] of buckets) if (tokensNow(bucket, burst, at) >= burst) buckets.delete(name);
    return 0;
  };

  return {
    name: 'RerunRate',
    // Also the actions `force` and `retry`.
    handles: ({ operation, kind, subResource }) =>
      operation === 'UPDATE' && kind.group === group && subResource !== 'status',
    async validate(request) {
      const cost = costOf(request);
      if (cost === 0) return;
      const { namespace, name, kind, resource } = request;
      const perMinute = settings()['limits.rerunsPerMinute'] ?? defaultRerunsPerMinute;
      const seconds = take(request, cost, perMinute);
      if (seconds === 0) return;
      throw new ArcError(
        'TooManyRequests',
        `${kind.kind} "${name}" is not run again now: namespace "${namespace}" has used up limits.rerunsPerMinute of the operator's settings, ${perMinute}; try again in ${seconds} s`,
        { details: { name, group, kind: resource.resource, retryAfterSeconds: seconds } },
      );
    },
  };
}

/** What a namespace has left at a time. */
function tokensNow(bucket: Bucket | undefined, burst: number, at: number): number {
  if (bucket === undefined) return burst;
  const perMs = burst / burstMinutes / 60_000;
  // The clock may have been set back.
  return Math.min(burst, bucket.tokens + Math.max(0, at - bucket.at) * perMs);
}

/** What is asked for of which object: the same however often the write is tried. */
function wishOf({ object }: AdmissionRequest): string {
  const { uid, annotations: notes = {} } = object?.metadata ?? {};
  return [uid, notes[annotations.forceAt], notes[annotations.retryAt]].join();
}

/** How many artifacts the request runs again; 0 for every other one. */
function costOf({ kind, user, object, oldObject }: AdmissionRequest): number {
  if (object === undefined || object.metadata.deletionTimestamp !== undefined) return 0;
  if (user.groups.includes(`system:serviceaccounts:${conduitNamespace}`)) return 0;
  const forces = isAsked(annotations.forceAt, object, oldObject);
  if (!forces && !isAsked(annotations.retryAt, object, oldObject)) return 0;
  if (kind.kind === 'ArtifactWorkflow') return 1;
  if (kind.kind !== 'Order') return 0;
  // Validated before, by the schema of the kind.
  const { spec, status } = object as Order;
  const succeeded = forces ? 0 : (status?.counts?.succeeded ?? 0);
  return Math.max(1, (spec.artifacts?.length ?? 0) - succeeded);
}

function isAsked(annotation: string, { metadata }: KubeObject, old: KubeObject | undefined): boolean {
  const value = metadata.annotations?.[annotation];
  return value !== undefined && value !== old?.metadata.annotations?.[annotation];
}
