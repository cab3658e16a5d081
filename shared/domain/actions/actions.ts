import type { KubeObject } from '#shared/base/meta';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { Order } from '../kinds/order.ts';
import { annotations } from '../kinds/well-known.ts';
import { forceTime } from '../plan/effective.ts';
import { type ActionName, requestedBy } from './requested-by.ts';

/** The user that requests an action, and the time by the server's clock. */
export interface Asked {
  user: { name: string };
  now: Date;
}

/** A verb of a kind, served as a subresource (`create` on `<plural>/<name>`). Fits Action of shared/kubernetes/apiserver. */
export interface ArcAction<T extends KubeObject = KubeObject> {
  name: ActionName;
  description: string;
  /** Returns the object with the action requested; the object itself where the request is pending already. */
  act(object: T, asked: Asked): T;
}

function named<T extends KubeObject>(
  name: ActionName,
  description: string,
  change: (object: T, now: Date) => T,
): ArcAction<T> {
  return {
    name,
    description,
    act(object, { user, now }) {
      const next = change(object, now);
      return next === object ? object : annotated(next, requestedBy(name, user.name, now));
    },
  };
}

function annotated<T extends KubeObject>(object: T, notes: Record<string, string>): T {
  const { metadata } = object;
  return { ...object, metadata: { ...metadata, annotations: { ...metadata.annotations, ...notes } } };
}

/** Unix seconds: now, or the latest end in the status, which another clock has written. */
function secondsAfter(now: Date, ends: readonly (string | undefined)[]): number {
  const times = ends.map((end) => Date.parse(end ?? '')).filter((time) => !Number.isNaN(time));
  return Math.ceil(Math.max(Math.floor(now.getTime() / 1000) * 1000, ...times) / 1000);
}

const retryOrder = named<Order>(
  'retry',
  'run what failed, or was stopped or cancelled one by one, again',
  (order, now) => {
    const ends = Object.values(order.status?.artifactWorkflows ?? {}).map((entry) => entry.completionTime);
    return annotated(order, { [annotations.retryAt]: String(secondsAfter(now, ends)) });
  },
);

const forceOrder = named<Order>('force', 'run all artifacts again', (order, now) => {
  const answered = Math.floor((Date.parse(order.status?.lastForceAt ?? '') || 0) / 1000);
  // Requested and not answered yet: a repeated request is the same request.
  if (forceTime(order) > answered) return order;
  const forceAt = Math.max(secondsAfter(now, []), answered + 1);
  return annotated(order, { [annotations.forceAt]: String(forceAt) });
});

const stop = 'stop what runs, and start nothing until spec.cancel is taken back';

const cancelOrder = named<Order>('cancel', stop, (order) =>
  order.spec.cancel === true ? order : { ...order, spec: { ...order.spec, cancel: true } },
);

const cancelWorkflow = named<ArtifactWorkflow>('cancel', stop, (workflow) =>
  workflow.spec.cancel === true ? workflow : { ...workflow, spec: { ...workflow.spec, cancel: true } },
);

const retryWorkflow = named<ArtifactWorkflow>('retry', 'run it again if it did not arrive', (given, now) => {
  const retryAt = secondsAfter(now, [given.status?.completionTime]);
  const workflow = annotated(given, { [annotations.retryAt]: String(retryAt) });
  // A cancel that the Order has set is undone on the Order.
  if (workflow.metadata.annotations?.[annotations.orderCancel] !== undefined) return workflow;
  const { cancel: _cancel, ...spec } = workflow.spec;
  return { ...workflow, spec };
});

export const orderActions: readonly ArcAction<Order>[] = [retryOrder, forceOrder, cancelOrder];
export const artifactWorkflowActions: readonly ArcAction<ArtifactWorkflow>[] = [
  retryWorkflow,
  cancelWorkflow,
];
