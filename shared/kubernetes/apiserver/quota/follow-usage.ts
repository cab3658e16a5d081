import { createBackoff, pause, yieldToEventLoop } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import type { Store } from '#shared/kubernetes/storage';
import type { UsageAccount } from './usage-account.ts';

export interface FollowOptions {
  signal: AbortSignal;
  /** Called when the account reaches a later revision. */
  onProgress(): void;
  /** Called when a list or watch fails; it is retried. */
  onFailure(error: ArcError): void;
}

/** Poll interval while the store initializes, and backoff after failures. */
const delays = { baseMs: 50, maxMs: 2_000 };

/** Keeps `account` up to date with the store under `prefix` by list and watch, until `signal` is aborted. Relists when a watch expires. */
export async function followUsage(
  store: Store,
  prefix: string,
  account: UsageAccount,
  { signal, onProgress, onFailure }: FollowOptions,
): Promise<void> {
  const backoff = createBackoff(delays);
  while (!signal.aborted) {
    // Before the cache is synced, a list would read from the backing store in addition to the cache's own list.
    while (!store.synced && !signal.aborted) await pause(delays.baseMs, signal);
    try {
      await countAll(store, prefix, account, signal);
      onProgress();
      backoff.reset();
      for await (const batch of store.watch(prefix, { after: account.revision, signal })) {
        account.apply(batch);
        onProgress();
      }
    } catch (caught) {
      if (!signal.aborted && !ArcError.is(caught, 'Expired')) onFailure(ArcError.from(caught));
    }
    if (!signal.aborted) await pause(backoff.next(), signal);
  }
}

/** A separate function, so that the list is garbage collected while the watch runs. */
async function countAll(
  store: Store,
  prefix: string,
  account: UsageAccount,
  signal: AbortSignal,
): Promise<void> {
  await account.load(await store.list(prefix, { signal }), yieldToEventLoop);
}
