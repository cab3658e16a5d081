import type { Agent } from 'node:http';
import type { RequestOptions } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import type { Impersonation, LoadedContext } from './load-context.ts';

/** The credentials of a request. */
export interface Signed {
  headers: Record<string, string | string[]>;
  /** Keep-alive agent, replaced when the certificates change. */
  agent: Agent;
}

export interface Signer {
  /** Returns the credentials; call it before every request. Rereads token files and reruns plugins when credentials expire. */
  sign(): Promise<Signed>;
  /** Milliseconds since creation. */
  ageMs(): number;
}

/** Credentials are unavailable, because a file is missing or a plugin fails. */
export class CredentialError extends Error {
  override readonly name = 'CredentialError';
}

/** Timeout of a plugin. The next request runs it again. */
const pluginTimeoutMs = 60_000;
/** Idle timeout of connections, shorter than those of proxies. */
const idleTimeoutMs = 30_000;

/** Creates a signer for the current context of `config`, which has one cluster and one user. */
export function createSigner({
  config,
  description,
  impersonation,
}: Pick<LoadedContext, 'config' | 'description' | 'impersonation'>): Signer {
  const createdAt = performance.now();
  let pending: Promise<Signed> | undefined;
  let agent: { of: string; agent: Agent } | undefined;

  const sign = async (): Promise<Signed> => {
    const options: RequestOptions = {};
    try {
      await config.applyToHTTPSOptions(options);
    } catch (caught) {
      throw new CredentialError(failureText(config, caught, description));
    }
    const material = JSON.stringify(
      [options.ca, options.cert, options.key].map((each) => String(each ?? '')),
    );
    if (agent?.of !== material) agent = { of: material, agent: await agentFor(config, options) };
    const headers = { ...headersOf(options, config, description), ...impersonationHeaders(impersonation) };
    return { headers, agent: agent.agent };
  };

  return {
    ageMs: () => performance.now() - createdAt,
    sign() {
      // Concurrent requests share a run of a plugin.
      pending ??= within(sign(), description).finally(() => {
        pending = undefined;
      });
      return pending;
    },
  };
}

function headersOf(
  { headers, auth }: RequestOptions,
  config: KubeConfig,
  description: string,
): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers ?? {}))
    result[name.toLowerCase()] = String(value).trim();
  if (auth) result.authorization = `Basic ${Buffer.from(auth).toString('base64')}`;
  const file: unknown = config.getCurrentUser()?.authProvider?.config?.tokenFile;
  if (file !== undefined && !result.authorization?.startsWith('Bearer '))
    throw new CredentialError(`cannot sign in as ${description}: the token file ${file} is empty`);
  return result;
}

/** Returns one header per group, because the API server does not split headers at commas. */
function impersonationHeaders(as: Impersonation | undefined): Signed['headers'] {
  if (as === undefined) return {};
  const { user, groups = [], uid } = as;
  return {
    'impersonate-user': user,
    ...(groups.length > 0 && { 'impersonate-group': [...groups] }),
    ...(uid !== undefined && { 'impersonate-uid': uid }),
  };
}

/** Creates an agent with client-node, which supports proxies. Uses a new KubeConfig, because client-node caches its first agent. */
async function agentFor(config: KubeConfig, { cert, key }: RequestOptions): Promise<Agent> {
  const cluster = config.getCurrentCluster();
  if (!cluster) throw new Error('the kubeconfig has no cluster');
  const base64 = (pem: unknown) => Buffer.from(String(pem)).toString('base64');
  const fresh = new KubeConfig();
  fresh.loadFromClusterAndUser(cluster, {
    name: 'it',
    ...(cert !== undefined && { certData: base64(cert) }),
    ...(key !== undefined && { keyData: base64(key) }),
  });
  const options: RequestOptions = { timeout: idleTimeoutMs };
  await fresh.applyToHTTPSOptions(options);
  return Object.assign(options.agent as Agent, { keepAlive: true });
}

function failureText(config: KubeConfig, caught: unknown, description: string): string {
  const user = config.getCurrentUser();
  const message = caught instanceof Error ? caught.message : String(caught);
  const what = `cannot sign in as ${description}`;
  const { exec } = user ?? {};
  if (!exec) return `${what}: ${shorten(message)}`;
  const command = JSON.stringify(exec.command ?? '');
  const isMissing = caught instanceof Error && 'code' in caught && caught.code === 'ENOENT';
  if (isMissing)
    return `${what}: the credential plugin ${command} is not installed. ${exec.installHint ?? ''}`.trim();
  return `${what}: the credential plugin ${command} failed: ${shorten(message) || 'it printed nothing'}`;
}

/** Truncates the output of a plugin to one line. */
function shorten(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return line.length > 500 ? `${line.slice(0, 500)}...` : line;
}

async function within<T>(work: Promise<T>, description: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<never>((_, reject) => {
    const text = `cannot sign in as ${description}: no credentials within ${pluginTimeoutMs / 1000} s`;
    timer = setTimeout(() => reject(new CredentialError(text)), pluginTimeoutMs);
  });
  try {
    return await Promise.race([work, timedOut]);
  } finally {
    clearTimeout(timer);
  }
}
