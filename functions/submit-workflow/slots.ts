import { ArcError } from '#shared/base/errors';
import { listBytes, namespaceOf, writeStatus } from '#shared/conduit/function-kit';
import type { Context } from '#shared/conduit/runtime';
import {
  type ArtifactWorkflow,
  artifactWorkflows,
  conflictSelectors,
  type Endpoint,
  endpoints,
  endpointTurn,
  type Hold,
  holdStatus,
  labels,
  limitingEndpoints,
  mayHavePassed,
  orderTurn,
  slotsWithout,
  type Turn,
} from '#shared/domain';

/**
 * Takes every slot that the ArtifactWorkflow needs, or none: two that each held a slot the other needs would deadlock. Resolves with the
 * hold if there is no room. Rejects with Conflict if another ArtifactWorkflow took a slot meanwhile.
 */
export async function takeSlots(context: Context, workflow: ArtifactWorkflow): Promise<Hold | undefined> {
  const { api, signal, now } = context;
  const place = namespaceOf(workflow);
  // Read before the users: a slot taken in between makes the write below conflict.
  const limiting = await Promise.all(
    limitingEndpoints(workflow).map((name) => api.get(endpoints, { ...place, name }, signal)),
  );
  const limits = limiting.flatMap((found) => (found?.spec.maxInFlight === undefined ? [] : [found]));
  const hold = await orderHold(context, workflow);
  if (hold === undefined && limits.length === 0) return undefined;
  const users = hold
    ? []
    : (await api.list(artifactWorkflows, { ...place, maxBytes: listBytes }, signal)).items;
  const turns = limits.map((endpoint) => {
    const own = users.filter((one) => limitingEndpoints(one).includes(endpoint.metadata.name));
    return { endpoint, turn: endpointTurn(workflow, endpoint, own, now) };
  });
  const full =
    hold ?? turns.flatMap(({ endpoint, turn }) => (turn.starts ? [] : [fullHold(endpoint, turn)]))[0];
  if (full !== undefined) {
    await giveBack(context, workflow, limits);
    return full;
  }
  for (const { endpoint, turn } of turns)
    if (turn.starts && turn.inFlight)
      await writeStatus(context, endpoints, endpoint, { inFlight: turn.inFlight });
  return undefined;
}

/**
 * Puts an ArtifactWorkflow that waited for its place back in line. Siblings that may be starting in its turn are written to: the changed
 * resourceVersion makes their start conflict and be decided again. A sibling that changed meanwhile has started, or decides again anyway.
 */
export async function returnToLine(context: Context, workflow: ArtifactWorkflow): Promise<void> {
  if (workflow.spec.parallelism === undefined || workflow.spec.cron !== undefined) return;
  const siblings = await readSiblings(context, workflow);
  const message = `ArtifactWorkflow "${workflow.metadata.name}" of its Order, whose place is free again, comes first`;
  const status = holdStatus({ reason: 'LimitReached', message });
  for (const sibling of mayHavePassed(workflow, siblings, context.now))
    await writeStatus(context, artifactWorkflows, sibling, status).catch((caught: unknown) => {
      if (!ArcError.is(caught, 'Conflict')) throw caught;
    });
}

async function readSiblings(
  { api, signal }: Context,
  workflow: ArtifactWorkflow,
): Promise<ArtifactWorkflow[]> {
  const labelSelector = `${labels.order}=${workflow.metadata.labels?.[labels.order] ?? ''}`;
  const selection = { ...namespaceOf(workflow), labelSelector, maxBytes: listBytes };
  return (await api.list(artifactWorkflows, selection, signal)).items;
}

/** Returns the hold while the Order runs as many as its parallelism allows. */
async function orderHold(context: Context, workflow: ArtifactWorkflow): Promise<Hold | undefined> {
  const { now } = context;
  const { parallelism } = workflow.spec;
  if (parallelism === undefined) return undefined;
  const turn = orderTurn(workflow, await readSiblings(context, workflow), now);
  return turn.starts
    ? undefined
    : holdFor(turn, `its Order runs ${parallelism} at a time (spec.parallelism)`);
}

function fullHold({ metadata, spec }: Endpoint, turn: Turn & { starts: false }): Hold {
  return holdFor(turn, `Endpoint "${metadata.name}" takes ${spec.maxInFlight} at a time (spec.maxInFlight)`);
}

/** Releases the slots of an ArtifactWorkflow that no longer runs, or cannot; that requeues the next in line. */
export async function giveSlotsBack(context: Context, workflow: ArtifactWorkflow): Promise<void> {
  const { api, signal } = context;
  for (const name of limitingEndpoints(workflow)) {
    const endpoint = await api.get(endpoints, { ...namespaceOf(workflow), name }, signal);
    if (endpoint) await giveBack(context, workflow, [endpoint]);
  }
}

async function giveBack(
  context: Context,
  workflow: ArtifactWorkflow,
  taken: readonly Endpoint[],
): Promise<void> {
  for (const endpoint of taken) {
    const inFlight = slotsWithout(endpoint, workflow);
    if (inFlight) await writeStatus(context, endpoints, endpoint, { inFlight });
  }
}

function holdFor({ ahead, running }: Turn & { starts: false }, limit: string): Hold {
  const before = ahead === 0 ? 'it is the next one' : `${ahead} ${ahead === 1 ? 'is' : 'are'} before it`;
  return {
    reason: 'LimitReached',
    message: `${limit}: ${running} ${running === 1 ? 'runs' : 'run'}, ${before}`,
  };
}

/** Returns the ArtifactWorkflows that must not run beside the given one; may include it. */
export async function readConflicting(
  { api, signal }: Context,
  workflow: ArtifactWorkflow,
  selectors: readonly string[] = conflictSelectors(workflow),
): Promise<ArtifactWorkflow[]> {
  const lists = selectors.map((labelSelector) =>
    api.list(artifactWorkflows, { ...namespaceOf(workflow), labelSelector, maxBytes: listBytes }, signal),
  );
  return (await Promise.all(lists)).flatMap(({ items }) => items);
}
