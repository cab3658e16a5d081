import {
  type ArtifactWorkflow,
  artifactWorkflows,
  type Endpoint,
  endpoints,
  endpointTurn,
  type Hold,
  labels,
  limitingEndpoints,
  orderTurn,
  slotsWithout,
  type Turn,
} from '#shared/domain';
import { namespaceOf, writeStatus } from '#shared/function-kit';
import type { Context } from '#shared/runtime';

/**
 * Takes the slots that the ArtifactWorkflow needs to start: all of them or none, because two that each held what the other waits for would
 * wait for ever. Resolves with what it waits for where there is no room. Rejects with Conflict where another one took a slot meanwhile.
 */
export async function takeSlots(context: Context, workflow: ArtifactWorkflow): Promise<Hold | undefined> {
  const { api, signal, now } = context;
  const place = namespaceOf(workflow);
  // Read before those who use them: a slot that is taken in between makes the write below conflict.
  const limiting = await Promise.all(
    limitingEndpoints(workflow).map((name) => api.get(endpoints, { ...place, name }, signal)),
  );
  const limits = limiting.flatMap((found) => (found?.spec.maxInFlight === undefined ? [] : [found]));
  const hold = await orderHold(context, workflow);
  if (hold === undefined && limits.length === 0) return undefined;
  const users = hold ? [] : (await api.list(artifactWorkflows, place, signal)).items;
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

/** What it waits for where the Order runs as many as it may. */
async function orderHold(
  { api, signal, now }: Context,
  workflow: ArtifactWorkflow,
): Promise<Hold | undefined> {
  const { parallelism } = workflow.spec;
  if (parallelism === undefined) return undefined;
  const labelSelector = `${labels.order}=${workflow.metadata.labels?.[labels.order] ?? ''}`;
  const { items } = await api.list(artifactWorkflows, { ...namespaceOf(workflow), labelSelector }, signal);
  const turn = orderTurn(workflow, items, now);
  return turn.starts
    ? undefined
    : holdFor(turn, `its Order runs ${parallelism} at a time (spec.parallelism)`);
}

function fullHold({ metadata, spec }: Endpoint, turn: Turn & { starts: false }): Hold {
  return holdFor(turn, `Endpoint "${metadata.name}" takes ${spec.maxInFlight} at a time (spec.maxInFlight)`);
}

/** Gives the slots of an ArtifactWorkflow back that does not run any more, or cannot; whoever is next is woken by that. */
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
