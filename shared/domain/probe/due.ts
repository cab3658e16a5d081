import type { Endpoint, EndpointStatus } from '../kinds/endpoint.ts';
import { annotations } from '../kinds/well-known.ts';
import { isDeleting } from '../lifecycle/phases.ts';
import { shortHash } from '../values/hash.ts';

const shortestMs = 60_000;
const usualMs = 10 * 60_000;
const longestMs = 60 * 60_000;
const spreadMs = 30_000;

/** Returns what a probe of the current Endpoint covers: `status.probed` after the probe. */
export function probeSubject({ metadata, status }: Endpoint): NonNullable<EndpointStatus['probed']> {
  const request = metadata.annotations?.[annotations.probeAt];
  return {
    ...(metadata.generation === undefined ? {} : { generation: metadata.generation }),
    ...(status?.secretGeneration === undefined ? {} : { secretGeneration: status.secretGeneration }),
    ...(request === undefined ? {} : { request }),
  };
}

/** True until the current spec and credentials, and the last requested probe, were probed. */
export function isUnprobed(endpoint: Endpoint): boolean {
  const { probed } = endpoint.status ?? {};
  const wanted = probeSubject(endpoint);
  return (
    probed?.generation !== wanted.generation ||
    probed?.secretGeneration !== wanted.secretGeneration ||
    probed?.request !== wanted.request
  );
}

/**
 * Returns when to probe an Endpoint again although nothing has changed. The interval grows with the age of its state: from ten minutes, or one
 * minute while not Ready, up to an hour. Long intervals end within a common half minute, so that one cold start of the function serves
 * many Endpoints, each at a second of its own. The creation of an Endpoint requests the first probe; if that event is lost, the probe is due
 * a minute later.
 */
export function probeDue(endpoint: Endpoint): Date | undefined {
  if (isDeleting(endpoint)) return undefined;
  const { lastProbeTime, conditions = [] } = endpoint.status ?? {};
  const last = Date.parse(lastProbeTime ?? '');
  if (Number.isNaN(last)) return firstProbe(endpoint);
  const ready = conditions.find(({ type }) => type === 'Ready');
  const since = Date.parse(ready?.lastTransitionTime ?? '');
  const least = ready?.status === 'True' ? usualMs : shortestMs;
  const stable = Number.isNaN(since) ? 0 : last - since;
  const wait = Math.min(longestMs, Math.max(least, stable));
  if (wait < usualMs) return new Date(last + wait);
  const bunchMs = wait < longestMs ? usualMs : longestMs;
  const ownMs = Number.parseInt(shortHash([endpoint.metadata.uid ?? null]).slice(0, 8), 16) % spreadMs;
  return new Date(Math.floor((last + wait) / bunchMs) * bunchMs + ownMs);
}

function firstProbe({ metadata }: Endpoint): Date | undefined {
  const created = Date.parse(metadata.creationTimestamp ?? '');
  return Number.isNaN(created) ? undefined : new Date(created + shortestMs);
}
