/** expire-objects: deletes an Order or ArtifactWorkflow whose time to live is over. */

import { ArcError } from '#shared/base/errors';
import { isoSeconds } from '#shared/base/meta';
import {
  ignoreNotFound,
  readOwner,
  readOwnerMetadata,
  readSettings,
  recordEvent,
  uidOf,
  versionOf,
} from '#shared/conduit/function-kit';
import type { Context, StepEvent } from '#shared/conduit/runtime';
import {
  type ArtifactWorkflow,
  artifactWorkflowExpiry,
  artifactWorkflows,
  isOn,
  type Order,
  orderExpiry,
  orders,
} from '#shared/domain';

/** Allowed clock skew to the bridge, which sends the event. */
const skewMs = 60_000;

/** Deletes the object if it has expired, unless TTLs are switched off. Rejects with transient errors, for the broker to retry. */
export async function handle(context: Context, event: StepEvent): Promise<undefined> {
  const { api, signal } = context;
  if (!isOn('ttl', await readSettings(context))) return;
  if (event.kind === orders.kind) {
    const order = await api.get(orders, event, signal);
    if (order !== undefined) await expire(context, orders, order, orderExpiry(order));
    return;
  }
  const workflow = await api.get(artifactWorkflows, event, signal);
  if (workflow === undefined) return;
  const about = await readOwnerMetadata(context, workflow);
  const order = about && (await readOwner(context, about));
  await expire(context, artifactWorkflows, workflow, artifactWorkflowExpiry(workflow, order));
}

/** Deletes exactly the state that was judged: an object that was edited or forced meanwhile is judged again. */
async function expire<T extends Order | ArtifactWorkflow>(
  context: Context,
  kind: typeof orders | typeof artifactWorkflows,
  object: T,
  at: Date | undefined,
): Promise<void> {
  const { api, now, signal } = context;
  if (at === undefined) return;
  const early = at.getTime() - now.getTime();
  // The expiry was moved after the event was sent; another event will come.
  if (early > skewMs) return;
  if (early > 0) throw tooEarly(object, early);
  const preconditions = { ...uidOf(object), ...versionOf(object) };
  const found = await ignoreNotFound(api.delete(kind, object.metadata, preconditions, signal));
  if (found !== true) return;
  const message = `deleted: its time to live ended at ${isoSeconds(at.getTime())}`;
  await recordEvent(context, {
    regarding: object,
    type: 'Normal',
    reason: 'Expired',
    message,
    component: 'expire-objects',
  });
}

function tooEarly({ kind, metadata }: Order | ArtifactWorkflow, ms: number): ArcError {
  const seconds = Math.ceil(ms / 1000);
  const message = `${kind} "${metadata.name}" expires in ${seconds} s by the clock of this pod; deliver the event again`;
  return new ArcError('ServiceUnavailable', message, { details: { retryAfterSeconds: seconds } });
}
