/**
 * Kubeconfigs and their credentials, by @kubernetes/client-node. Imported only lazily: the build makes one file of this folder
 * (scripts/build/bundle.ts), which a function loads outside a cluster. That file has its own copy of everything it imports, so
 * nothing here may import a class that is compared by `instanceof`: failures are plain Errors.
 */
import { connectLimitMs, farConnectLimitMs } from '#shared/base/async';
import { clusterFetch } from './cluster-fetch.ts';
import { type ContextSource, loadContext } from './load-context.ts';
import { createSigner } from './signer.ts';

export type { ContextSource, Impersonation } from './load-context.ts';
export { CredentialError } from './signer.ts';

/** Opens the cluster of a context with its user's credentials. Rejects with what is wrong with the kubeconfig. */
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
      // The current credentials are refused; the files or the plugin may have new ones.
      refused: () => {
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

/** Minimum interval between two reads of a kubeconfig whose credentials are refused, ms. */
const reloadMs = 10_000;
