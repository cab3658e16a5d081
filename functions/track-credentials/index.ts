/** track-credentials: an Endpoint and its Secret -> status.secretGeneration, a counter of the credentials' versions. */
import {
  type Endpoint,
  endpoints,
  isDeleting,
  type Secret,
  secrets,
  trackedCredentials,
} from '#shared/domain';
import { namespaceOf, writeStatus } from '#shared/function-kit';
import type { Context, Wake } from '#shared/runtime';
import { digestKey } from './digest-key.ts';

/** Compares the Endpoint's Secret with the last one seen and counts a change. Rejects with what the broker is to retry. */
export async function handle(context: Context, wake: Wake): Promise<undefined> {
  const endpoint = await context.api.get(endpoints, wake, context.signal);
  if (endpoint === undefined || isDeleting(endpoint)) return;
  const secret = await readSecret(context, endpoint);
  const key = await digestKey(context);

  const status = trackedCredentials(endpoint, secret && (secret.data ?? {}), key);
  if (status !== undefined) await writeStatus(context, endpoints, endpoint, status);
}

async function readSecret({ api, signal }: Context, endpoint: Endpoint): Promise<Secret | undefined> {
  const name = endpoint.spec.secretRef?.name;
  return name === undefined ? undefined : api.get(secrets, { ...namespaceOf(endpoint), name }, signal);
}
