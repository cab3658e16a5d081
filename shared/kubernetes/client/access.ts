import { existsSync } from 'node:fs';
import path from 'node:path';
import { ArcError } from '#shared/base/errors';
import { accountFolder, inClusterConfig, inClusterServer } from './in-cluster.ts';
import type { ContextSource, Impersonation } from './kubeconfig/index.ts';
import type { ClusterAccess } from './transport/transport.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** Overrides from a command line, as in kubectl. */
export interface AccessChoice {
  /** Replaces KUBECONFIG, the service account of the pod and ~/.kube/config. */
  kubeconfig?: string | undefined;
  /** Replaces the current context. */
  context?: string | undefined;
  impersonation?: Impersonation | undefined;
}

/**
 * Returns access to the cluster for a function: in a pod by its service account, without loading the kubeconfig library; elsewhere like
 * `programAccess`. Rejects with Invalid if no cluster is configured.
 */
export async function functionAccess(env: Env): Promise<ClusterAccess> {
  const isInPod = Boolean(env.KUBERNETES_SERVICE_HOST) && !env.KUBECONFIG;
  return env.ARC_API_SERVER || isInPod ? inClusterConfig(env) : programAccess(env);
}

/**
 * Returns access to the cluster for a program. Uses the first of: ARC_API_SERVER with ARC_TOKEN_FILE and ARC_CA_FILE; the current context of
 * KUBECONFIG; the service account of the pod; the current context of ~/.kube/config. Contexts, client certificates, token files, exec
 * plugins and proxies work as in kubectl. Rejects with Invalid if no cluster is configured or a kubeconfig is invalid. `namespace` is the
 * namespace of the context, if any.
 */
export async function programAccess(
  env: Env,
  choice: AccessChoice = {},
): Promise<ClusterAccess & { namespace?: string }> {
  const source = { ...sourceOf(env, choice), impersonation: choice.impersonation };
  const { openContext } = await import('./kubeconfig/index.ts');
  try {
    const { fetch, ...place } = await openContext(source);
    return {
      ...place,
      fetch: async (url, init) => {
        try {
          return await fetch(url, init);
        } catch (caught) {
          if (caught instanceof Error && caught.name === 'CredentialError')
            throw new ArcError('ServiceUnavailable', caught.message);
          throw caught;
        }
      },
    };
  } catch (caught) {
    throw ArcError.from(caught, 'Invalid');
  }
}

function sourceOf(env: Env, { kubeconfig, context }: AccessChoice): ContextSource {
  if (kubeconfig !== undefined) return { kubeconfig: [kubeconfig], context };
  const { ARC_API_SERVER, KUBECONFIG, KUBERNETES_SERVICE_HOST, HOME } = env;
  if (context === undefined && (ARC_API_SERVER || (KUBERNETES_SERVICE_HOST && !KUBECONFIG))) {
    const caFile = env.ARC_CA_FILE || path.join(accountFolder, 'ca.crt');
    // Outside a pod the file may be missing: then the root certificates of Node are used.
    const hasAuthority = Boolean(env.ARC_CA_FILE) || existsSync(caFile);
    return {
      server: inClusterServer(env),
      tokenFile: env.ARC_TOKEN_FILE || path.join(accountFolder, 'token'),
      ...(hasAuthority && { caFile }),
    };
  }
  if (KUBECONFIG)
    return { kubeconfig: KUBECONFIG.split(path.delimiter).filter((file) => file !== ''), context };
  const defaultFile = HOME ? path.join(HOME, '.kube/config') : undefined;
  if (defaultFile !== undefined && existsSync(defaultFile)) return { kubeconfig: [defaultFile], context };
  throw new ArcError(
    'Invalid',
    `there is no cluster to work for: there is no ${defaultFile ?? '~/.kube/config'}, and KUBERNETES_SERVICE_HOST is not set, as it is in a pod: set KUBECONFIG, or ARC_API_SERVER and ARC_TOKEN_FILE`,
  );
}
