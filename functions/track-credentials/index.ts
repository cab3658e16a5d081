/** track-credentials: an Endpoint and its Secret -> status.secretGeneration, a counter of the credentials' versions. */
import { type Endpoint, endpoints, type Secret, secrets, trackedCredentials } from '#shared/domain';
import { patchStatus } from '#shared/kube';
import type { Context, Wake } from '#shared/runtime';
import { digestKey } from './digest-key.ts';

/** Looks at the Endpoint's Secret and writes what it saw, if that is new. Rejects with what the broker is to retry. */
export async function handle(context: Context, wake: Wake): Promise<undefined> {
  const { api, signal } = context;
  const endpoint = await api.get(endpoints, { namespace: wake.namespace, name: wake.name }, signal);
  if (endpoint === undefined || endpoint.metadata.deletionTimestamp !== undefined) return;
  const secret = await secretOf(context, endpoint);
  const key = await digestKey(context);
  const status = trackedCredentials(endpoint, secret && (secret.data ?? {}), key);
  if (status !== undefined) await patchStatus(api, endpoints, endpoint, status, signal);
}

async function secretOf({ api, signal }: Context, endpoint: Endpoint): Promise<Secret | undefined> {
  const name = endpoint.spec.secretRef?.name;
  if (name === undefined) return undefined;
  const { namespace } = endpoint.metadata;
  return api.get(secrets, { name, ...(namespace === undefined ? {} : { namespace }) }, signal);
}
