/**
 * Kubeconfigs and the credentials in them, by @kubernetes/client-node. Only ever imported lazily: the build makes one file of this folder
 * (scripts/build/bundle.ts), which a function loads when it is not in a cluster. That file has its own copy of everything it imports, so
 * nothing here may import a class that somebody compares by `instanceof`: failures are plain Errors.
 */
import { connectLimitMs, farConnectLimitMs } from '#shared/base/async';
import { clusterFetch } from './cluster-fetch.ts';
import { type ContextSource, loadContext } from './load-context.ts';
import { createSigner } from './signer.ts';

export type { ContextSource, Impersonation } from './load-context.ts';
export { CredentialError } from './signer.ts';

/** The cluster of a context, signed in as its user. Rejects with what is wrong with the kubeconfig. */
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
      // What the files or the plugin said before is good no longer, and what they say now may be.
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

/** Milliseconds between two reads of a kubeconfig whose credentials are refused. */
const reloadMs = 10_000;
