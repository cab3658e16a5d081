/** track-credentials: keeps status.secretGeneration of an Endpoint, a counter of its credentials' versions. */

import { ignoreForbidden, namespaceOf, writeStatus } from '#shared/conduit/function-kit';
import type { Context, StepEvent } from '#shared/conduit/runtime';
import {
  type Endpoint,
  endpoints,
  isDeleting,
  type Reference,
  secrets,
  trackedCredentials,
} from '#shared/domain';
import { digestKey } from './digest-key.ts';

/** Compares the Secrets of the Endpoint with the recorded digests and counts a change. Rejects with transient errors, for the broker to retry. */
export async function handle(context: Context, event: StepEvent): Promise<undefined> {
  const endpoint = await context.api.get(endpoints, event, context.signal);
  if (endpoint === undefined || isDeleting(endpoint)) return;
  const { secretRef, tls } = endpoint.spec;
  const [secret, ca, key] = await Promise.all([
    dataOf(context, endpoint, secretRef),
    dataOf(context, endpoint, tls?.caSecretRef),
    digestKey(context),
  ]);
  const status = trackedCredentials(endpoint, { secret, ca }, key);
  if (status !== undefined) await writeStatus(context, endpoints, endpoint, status);
}

/** Returns the data of a Secret in the Endpoint's namespace; undefined if it does not exist, or the namespace was not given to ARC. */
async function dataOf({ api, signal }: Context, endpoint: Endpoint, ref: Reference | undefined) {
  if (ref === undefined) return undefined;
  const secret = await ignoreForbidden(
    api.get(secrets, { ...namespaceOf(endpoint), name: ref.name }, signal),
  );
  return secret && (secret.data ?? {});
}
