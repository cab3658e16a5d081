import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ArcError } from '#shared/base/errors';
import { fileAuthority } from './file-authority.ts';
import type { ClusterAccess } from './transport/transport.ts';

/** The folder of the account's token and the cluster's certificate authority, which the kubelet writes. */
export const accountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';
const rereadMs = 60_000;

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Reads address and credentials from the environment and files of a pod: KUBERNETES_SERVICE_HOST and _PORT, and the account's token
 * and authority, which are read again as they are renewed. ARC_API_SERVER (a URL), ARC_TOKEN_FILE and ARC_CA_FILE override
 * them outside a cluster. Throws Invalid if neither is set.
 */
export function inClusterConfig(env: Env): ClusterAccess {
  const read = fileToken(env.ARC_TOKEN_FILE || join(accountFolder, 'token'));
  // Outside a pod the file may not exist: then Node's own authorities are used.
  const trust = fileAuthority(env.ARC_CA_FILE || join(accountFolder, 'ca.crt'), Boolean(env.ARC_CA_FILE));
  const token = async () => {
    await trust();
    return read();
  };
  return { server: inClusterServer(env), token };
}

/** Returns the address of the API server. Throws Invalid if there is none. */
export function inClusterServer(env: Env): string {
  if (env.ARC_API_SERVER) return env.ARC_API_SERVER;
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = env;
  if (!host) {
    throw new ArcError(
      'Invalid',
      'KUBERNETES_SERVICE_HOST is not set: run inside a pod, or set ARC_API_SERVER and ARC_TOKEN_FILE',
    );
  }
  return `https://${host.includes(':') ? `[${host}]` : host}:${port || '443'}`;
}

/**
 * Reads a token from a file, again at most once a minute: the kubelet rotates it (client-go does the same). Rejects with
 * ServiceUnavailable if the file is unreadable or empty.
 *
 * @param now milliseconds of any steady clock
 */
export function fileToken(path: string, now: () => number = () => performance.now()): () => Promise<string> {
  let cached: { token: string; readAt: number } | undefined;
  return async () => {
    if (cached !== undefined && now() - cached.readAt < rereadMs) return cached.token;
    const token = await readToken(path);
    cached = { token, readAt: now() };
    return token;
  };
}

async function readToken(path: string): Promise<string> {
  const text = await readFile(path, 'utf8').catch((caught: unknown) => {
    throw new ArcError('ServiceUnavailable', `cannot read the service account token ${path}`, {
      cause: caught,
    });
  });
  const token = text.trim();
  if (token === '') throw new ArcError('ServiceUnavailable', `the service account token ${path} is empty`);
  return token;
}
