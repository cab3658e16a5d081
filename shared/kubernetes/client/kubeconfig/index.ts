/**
 * Kubeconfigs and their credentials, based on @kubernetes/client-node. Import it only lazily: the build bundles this folder separately
 * (scripts/build/bundle.ts) for functions outside of a cluster. The bundle has its own copy of its imports, so nothing here may import a
 * class that is compared by `instanceof`: errors are plain Errors.
 */
import { connectLimitMs, farConnectLimitMs } from '#shared/base/async';
import { clusterFetch } from './cluster-fetch.ts';
import { type ContextSource, loadContext } from './load-context.ts';
import { createSigner } from './signer.ts';

export type { ContextSource, Impersonation } from './load-context.ts';
export { CredentialError } from './signer.ts';

/** Resolves with access to the cluster of a context. Rejects with an Error that describes the problem in the kubeconfig. */
export async function openContext(source: ContextSource) {
  const context = await loadContext(source);
  let signer = createSigner(context);
  let reload: Promise<void> | undefined;
  const load = async () => {
    signer = createSigner(await loadContext(source));
  };
  const { server, namespace } = context;
  return {
    server,
    ...(namespace !== undefined && { namespace }),
    fetch: clusterFetch({
      connectLimitMs: 'kubeconfig' in source ? farConnectLimitMs : connectLimitMs,
      sign: async () => {
        await reload;
        return signer.sign();
      },
      // The credentials are rejected, but the files or the plugin may have new ones.
      onUnauthorized: () => {
        if (signer.ageMs() < reloadMs) return;
        reload ??= load()
          .catch(() => undefined)
          .finally(() => {
            reload = undefined;
          });
      },
    }),
  };
}

/** Minimum interval between two reads of a kubeconfig with rejected credentials, in milliseconds. */
const reloadMs = 10_000;
