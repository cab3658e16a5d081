import { existsSync } from 'node:fs';
import path from 'node:path';
import { ArcError } from '#shared/base/errors';
import { accountFolder, inClusterConfig, inClusterServer } from './in-cluster.ts';
import type { ContextSource, Impersonation } from './kubeconfig/index.ts';
import type { ClusterAccess } from './transport/transport.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** What a person chooses on a command line, as with kubectl. */
export interface AccessChoice {
  /** The file, in place of KUBECONFIG, the pod's account and ~/.kube/config. */
  kubeconfig?: string | undefined;
  /** In place of the current context. */
  context?: string | undefined;
  impersonation?: Impersonation | undefined;
}

/**
 * The cluster a function works for. In a pod this is the service account alone, which loads nothing; elsewhere it is what
 * `programAccess` finds. Rejects with Invalid when there is no cluster, saying what to set.
 */
export async function functionAccess(env: Env): Promise<ClusterAccess> {
  const isInPod = Boolean(env.KUBERNETES_SERVICE_HOST) && !env.KUBECONFIG;
  return env.ARC_API_SERVER || isInPod ? inClusterConfig(env) : programAccess(env);
}

/**
 * The cluster a program works for: ARC_API_SERVER with ARC_TOKEN_FILE and ARC_CA_FILE, or the current context of KUBECONFIG, or the
 * service account of the pod, or the current context of ~/.kube/config; the first that is there. Contexts, client certificates,
 * token files, exec plugins and proxies work as in kubectl. Rejects with Invalid when there is none or a kubeconfig is wrong.
 * `namespace` is that of the context, where it names one.
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
    // Outside a pod there may be no such file: what Node trusts by itself has to do.
    const hasAuthority = Boolean(env.ARC_CA_FILE) || existsSync(caFile);
    return {
      server: inClusterServer(env),
      tokenFile: env.ARC_TOKEN_FILE || path.join(accountFolder, 'token'),
      ...(hasAuthority && { caFile }),
    };
  }
  if (KUBECONFIG)
    return { kubeconfig: KUBECONFIG.split(path.delimiter).filter((file) => file !== ''), context };
  const usual = HOME ? path.join(HOME, '.kube/config') : undefined;
  if (usual !== undefined && existsSync(usual)) return { kubeconfig: [usual], context };
  throw new ArcError(
    'Invalid',
    `there is no cluster to work for: there is no ${usual ?? '~/.kube/config'}, and KUBERNETES_SERVICE_HOST is not set, as it is in a pod: set KUBECONFIG, or ARC_API_SERVER and ARC_TOKEN_FILE`,
  );
}
