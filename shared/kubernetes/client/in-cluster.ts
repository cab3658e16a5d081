import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ArcError } from '#shared/base/errors';
import { fileAuthority } from './file-authority.ts';
import type { ClusterAccess } from './transport/transport.ts';

/** The folder in which the kubelet writes the service account token and the certificate authority of the cluster. */
export const accountFolder = '/var/run/secrets/kubernetes.io/serviceaccount';
const rereadIntervalMs = 60_000;

type Env = Readonly<Record<string, string | undefined>>;

/**
 * Returns access to the cluster from the environment and files of a pod: KUBERNETES_SERVICE_HOST and _PORT, and the service account token and
 * authority, which are reread because they are rotated. ARC_API_SERVER (a URL), ARC_TOKEN_FILE and ARC_CA_FILE override them outside of a
 * cluster. Throws Invalid if neither is set.
 */
export function inClusterConfig(env: Env): ClusterAccess {
  return inClusterAccess(env, fileToken(env.ARC_TOKEN_FILE || join(accountFolder, 'token')));
}

/** Returns access to the same cluster with the token that `read` returns. The authority is reread because it is rotated. */
export function inClusterAccess(env: Env, read: () => string | Promise<string>): ClusterAccess {
  // Outside a pod the file may be missing: then the root certificates of Node are used.
  const trust = fileAuthority(env.ARC_CA_FILE || join(accountFolder, 'ca.crt'), Boolean(env.ARC_CA_FILE));
  const token = async () => {
    await trust();
    return read();
  };
  return { server: inClusterServer(env), token };
}

/** Returns the address of the API server. Throws Invalid if it is not configured. */
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
 * Returns a function that reads a token from a file. Rereads it at most once a minute, like client-go, because the kubelet rotates it.
 * Rejects with ServiceUnavailable if the file is unreadable or empty.
 *
 * @param now milliseconds of a monotonic clock
 */
export function fileToken(path: string, now: () => number = () => performance.now()): () => Promise<string> {
  let cached: { token: string; readAt: number } | undefined;
  return async () => {
    if (cached !== undefined && now() - cached.readAt < rereadIntervalMs) return cached.token;
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
