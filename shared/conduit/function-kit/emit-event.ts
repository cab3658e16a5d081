import { createHash } from 'node:crypto';
import { ArcError } from '#shared/base/errors';
import { isoSeconds, type KubeObject } from '#shared/base/meta';
import { cut, type EventReason } from '#shared/domain';
import type { Kind, KubeClient } from '#shared/kubernetes/client';

/** The content of an Event, as `kubectl describe` prints it. */
export interface EventInput {
  /** The object it is about. */
  regarding: KubeObject;
  type: 'Normal' | 'Warning';
  /** Stable: people filter by it. */
  reason: EventReason;
  /** For people; cut to 1,024 bytes. */
  message: string;
  /** The name of the function that records it. */
  component: string;
  now: Date;
  /** Recorded once for the time `now`; repetitions are not counted. */
  once?: true;
}

const events: Kind = { apiVersion: 'v1', kind: 'Event', plural: 'events', namespaced: true };
const longestMessage = 1024;
const attempts = 4;

/**
 * Records a core/v1 Event. Repeating a statement about an object raises the count of the existing Event, because its name is a
 * hash of the statement. Events about cluster-scoped objects go to the namespace `default`, as in
 * client-go. Rejects with ArcError; callers whose work does not depend on the Event log that and continue.
 */
export async function emitEvent(client: KubeClient, input: EventInput, signal?: AbortSignal): Promise<void> {
  const event = newEvent(input);
  const key = { name: event.metadata.name, namespace: event.metadata.namespace ?? 'default' };
  for (let attempt = 1; ; attempt += 1) {
    try {
      await createOrCount(client, event, key, input.once === true, signal);
      return;
    } catch (caught) {
      // Another replica counted meanwhile, or the Event expired.
      if (!ArcError.is(caught, 'Conflict', 'NotFound') || attempt === attempts) throw caught;
    }
  }
}

async function createOrCount(
  client: KubeClient,
  event: KubeObject,
  key: { name: string; namespace: string },
  once: boolean,
  signal?: AbortSignal,
): Promise<void> {
  try {
    await client.create(events, event, signal);
    return;
  } catch (caught) {
    if (!ArcError.is(caught, 'AlreadyExists')) throw caught;
    if (once) return;
  }
  const present = await client.get(events, key, signal);
  if (present === undefined) throw new ArcError('NotFound', `Event ${key.name} was removed meanwhile`);
  const { resourceVersion } = present.metadata;
  const count = (typeof present.count === 'number' ? present.count : 1) + 1;
  const patch = { metadata: { resourceVersion }, count, lastTimestamp: event.lastTimestamp };
  await client.mergePatch(events, key, patch, undefined, signal);
}

function newEvent(input: EventInput): KubeObject {
  const { regarding, type, reason, component } = input;
  const { name, namespace, uid, resourceVersion } = regarding.metadata;
  const message = cut(input.message, longestMessage);
  const statement = JSON.stringify([
    uid ?? [namespace, name],
    regarding.kind,
    type,
    reason,
    message,
    component,
    ...(input.once ? [input.now.toISOString()] : []),
  ]);
  const digest = createHash('sha256').update(statement).digest('hex').slice(0, 16);
  const time = isoSeconds(input.now);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      name: `${name.slice(0, 236).replace(/[^a-z0-9]+$/, '')}.${digest}`,
      namespace: namespace ?? 'default',
    },
    involvedObject: {
      apiVersion: regarding.apiVersion,
      kind: regarding.kind,
      name,
      ...(namespace !== undefined && { namespace }),
      ...(uid !== undefined && { uid }),
      ...(resourceVersion !== undefined && { resourceVersion }),
    },
    type,
    reason,
    message,
    source: { component },
    reportingComponent: component,
    reportingInstance: component,
    firstTimestamp: time,
    lastTimestamp: time,
    count: 1,
  };
}
