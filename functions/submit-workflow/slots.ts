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
 * Takes the slots that the ArtifactWorkflow needs to start, one Endpoint after the other; what it got it keeps. Resolves with what it waits for
 * where there is no room. Rejects with Conflict where another one took a slot meanwhile.
 */
export async function takeSlots(context: Context, workflow: ArtifactWorkflow): Promise<Hold | undefined> {
  const { api, signal, now } = context;
  const place = namespaceOf(workflow);
  if (workflow.spec.parallelism !== undefined) {
    const labelSelector = `${labels.order}=${workflow.metadata.labels?.[labels.order] ?? ''}`;
    const { items } = await api.list(artifactWorkflows, { ...place, labelSelector }, signal);
    const turn = orderTurn(workflow, items, now);
    if (!turn.starts)
      return holdFor(turn, `its Order runs ${workflow.spec.parallelism} at a time (spec.parallelism)`);
  }
  for (const name of limitingEndpoints(workflow)) {
    // Read before those who use it: a slot that is taken in between makes the write below conflict.
    const endpoint = await api.get(endpoints, { ...place, name }, signal);
    if (endpoint?.spec.maxInFlight === undefined) continue;
    const turn = endpointTurn(workflow, endpoint, await usersOf(context, endpoint), now);
    if (!turn.starts)
      return holdFor(
        turn,
        `Endpoint "${name}" takes ${endpoint.spec.maxInFlight} at a time (spec.maxInFlight)`,
      );
    if (turn.inFlight) await writeStatus(context, endpoints, endpoint, { inFlight: turn.inFlight });
  }
  return undefined;
}

/** Gives the slots of an ArtifactWorkflow back that does not run any more; whoever is next is woken by that. */
export async function giveSlotsBack(context: Context, workflow: ArtifactWorkflow): Promise<void> {
  const { api, signal } = context;
  for (const name of limitingEndpoints(workflow)) {
    const endpoint = await api.get(endpoints, { ...namespaceOf(workflow), name }, signal);
    const inFlight = endpoint && slotsWithout(endpoint, workflow);
    if (endpoint && inFlight) await writeStatus(context, endpoints, endpoint, { inFlight });
  }
}

async function usersOf({ api, signal }: Context, endpoint: Endpoint): Promise<ArtifactWorkflow[]> {
  const { items } = await api.list(artifactWorkflows, namespaceOf(endpoint), signal);
  return items.filter((one) => limitingEndpoints(one).includes(endpoint.metadata.name));
}

function holdFor({ ahead, running }: Turn & { starts: false }, limit: string): Hold {
  const before = ahead === 0 ? 'it is the next one' : `${ahead} ${ahead === 1 ? 'is' : 'are'} before it`;
  return {
    reason: 'LimitReached',
    message: `${limit}: ${running} ${running === 1 ? 'runs' : 'run'}, ${before}`,
  };
}
