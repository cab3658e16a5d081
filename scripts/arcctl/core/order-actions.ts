import { isRecord } from '#shared/base/meta';
import { artifactWorkflows, orders } from '#shared/domain';
import { type Key, type Kind, objectPath } from '#shared/kubernetes/client';
import type { Cluster } from './session.ts';

/** A user's action on an Order, or on one of its artifacts. */
export interface OrderAction {
  name: string;
  description: string;
  /** Printed after the name of the object. */
  done: string;
  kinds: readonly Kind[];
  /** True if acting on all Orders of a namespace needs confirmation, because it cannot be undone. */
  asksForAll: boolean;
  /** Why the response shows that there was nothing to do; undefined otherwise. */
  unneeded?(answer: unknown): string | undefined;
  /** Sends the request. Rejects with the error of the API. */
  act(
    cluster: Pick<Cluster, 'api' | 'transport'>,
    kind: Kind,
    key: Key,
    signal: AbortSignal,
  ): Promise<unknown>;
}

const both = [orders, artifactWorkflows];

/** In display order. */
export const orderActions: readonly OrderAction[] = [
  {
    ...subresource('retry', 'Retry failed, stopped or cancelled artifacts', 'retry requested', both),
    unneeded: (answer) =>
      hasSucceeded(answer) ? 'has succeeded, nothing to retry; use force to run it again' : undefined,
  },
  subresource('force', 'Run all artifacts of an Order again, whatever their state', 'force requested', [
    orders,
  ]),
  subresource('cancel', 'Stop running transfers and start no others until resume', 'cancel requested', both),
  patch('suspend', 'Start no new transfers; running ones continue', 'suspended', { suspend: true }),
  patch('resume', 'Undo suspend and cancel of an Order', 'resumed', { suspend: null, cancel: null }),
];

/** The phase of an Order that was edited since then is outdated. */
function hasSucceeded(answer: unknown): boolean {
  if (!isRecord(answer) || !isRecord(answer.status) || !isRecord(answer.metadata)) return false;
  const { phase, observedGeneration } = answer.status;
  return phase === 'Succeeded' && observedGeneration === answer.metadata.generation;
}

function subresource(name: string, description: string, done: string, kinds: readonly Kind[]): OrderAction {
  return {
    name,
    description,
    done,
    kinds,
    asksForAll: true,
    act: ({ transport }, kind, key, signal) =>
      transport.send({ method: 'POST', path: objectPath(kind, key, name), body: {} }, signal),
  };
}

function patch(name: string, description: string, done: string, spec: object): OrderAction {
  return {
    name,
    description,
    done,
    kinds: [orders],
    asksForAll: false,
    act: ({ api }, kind, key, signal) => api.mergePatch(kind, key, { spec }, undefined, signal),
  };
}
