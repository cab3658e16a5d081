/** probe-endpoint: an Endpoint, its Secrets and its server -> conditions that say whether it can be used. */

import { isoSeconds } from '#shared/base/meta';
import {
  ignoreForbidden,
  namespaceOf,
  readSettings,
  readTypes,
  writeStatus,
} from '#shared/conduit/function-kit';
import type { Context, StepEvent } from '#shared/conduit/runtime';
import {
  type Endpoint,
  endpointConditions,
  endpoints,
  type Findings,
  isDeleting,
  isOn,
  isUnprobed,
  probeDue,
  probeSubject,
  type Secret,
  type Settings,
  secrets,
  validateEndpoint,
} from '#shared/domain';
import { probe } from './probe.ts';
import { withUsableKeys } from './usable-keys.ts';

/** A probe may run this much before it is due: clocks differ, and an early probe does no harm. */
const earlyMs = 30_000;

/** Probes the Endpoint if a probe is due and probes are enabled, and writes its conditions. Rejects with transient errors. */
export async function handle(context: Context, event: StepEvent): Promise<undefined> {
  const endpoint = await context.api.get(endpoints, event, context.signal);
  if (endpoint === undefined || isDeleting(endpoint) || !isDue(endpoint, context.now)) return;
  const settings = await readSettings(context);
  if (!isOn('probes', settings)) return;
  const conditions = endpointConditions(endpoint, await find(context, endpoint, settings), context.now);
  await writeStatus(context, endpoints, endpoint, {
    conditions,
    probed: probeSubject(endpoint),
    lastProbeTime: isoSeconds(context.now.getTime()),
  });
}

function isDue(endpoint: Endpoint, now: Date): boolean {
  const due = probeDue(endpoint);
  return isUnprobed(endpoint) || due === undefined || now.getTime() >= due.getTime() - earlyMs;
}

async function find(context: Context, endpoint: Endpoint, settings: Settings): Promise<Findings> {
  const { policyRef } = endpoint.spec;
  const [secret, ca, types] = await Promise.all([
    readSecret(context, endpoint, endpoint.spec.secretRef?.name),
    readSecret(context, endpoint, endpoint.spec.tls?.caSecretRef?.name),
    policyRef === undefined ? [] : readTypes(context, endpoint, [policyRef.name]),
  ]);
  const validation = withUsableKeys(endpoint, validateEndpoint(endpoint, { secret, ca, types }));
  if (validation.valid)
    return { validated: validation.finding, ...(await probe(context, endpoint, validation, settings)) };
  const message = 'not tried: the Endpoint is not valid';
  const untried = { status: 'Unknown', reason: 'NotProbed', message } as const;
  return { validated: validation.finding, reachable: untried, authenticated: untried };
}

async function readSecret(
  { api, signal }: Context,
  endpoint: Endpoint,
  name: string | undefined,
): Promise<Secret | undefined> {
  return name === undefined
    ? undefined
    : ignoreForbidden(api.get(secrets, { ...namespaceOf(endpoint), name }, signal));
}
