import { createSemaphore, type Semaphore } from '#shared/base/async';
import type { Context } from '#shared/conduit/runtime';
import type { Endpoint, Settings, Validation } from '#shared/domain';
import { createAddressGuard, type ProbeResult, probeServer } from '#shared/transfer';

/** Servers with a probe in flight, one slot each: many Endpoints may name one registry. */
const servers = new Map<string, { slot: Semaphore; users: number }>();

/** Probes the server of a valid Endpoint; one probe per server at a time. */
export async function probe(
  { signal }: Context,
  { metadata, spec }: Endpoint,
  { credentials, client, ca }: Validation & { valid: true },
  operator: Settings,
): Promise<ProbeResult> {
  const { type, remoteURL, tls = {}, tokenHosts = [] } = spec;
  const settings = {
    ...(ca === undefined ? {} : { ca }),
    ...client,
    ...(tls.insecureSkipVerify ? { insecureSkipVerify: true } : {}),
    ...(tls.plainHTTP ? { plainHTTP: true } : {}),
  };
  const server = { type, remoteURL, tls: settings, tokenHosts };
  const guard = createAddressGuard(operator['probes.allowedRanges']);
  const request = { name: metadata.name, ...server, guard, signal };
  return alone(remoteURL, signal, () =>
    probeServer(credentials === undefined ? request : { ...request, credentials }),
  );
}

async function alone<T>(server: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const found = servers.get(server) ?? { slot: createSemaphore(1), users: 0 };
  servers.set(server, found);
  found.users += 1;
  try {
    const free = await found.slot.acquire(signal);
    try {
      return await work();
    } finally {
      free();
    }
  } finally {
    found.users -= 1;
    if (found.users === 0) servers.delete(server);
  }
}
