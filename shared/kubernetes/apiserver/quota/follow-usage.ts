import { createBackoff, pause, yieldToEventLoop } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import type { Store } from '#shared/kubernetes/storage';
import type { UsageAccount } from './usage-account.ts';

export interface FollowOptions {
  signal: AbortSignal;
  /** The account has come to a later revision. */
  onProgress(): void;
  /** A list or watch failed; it is tried again. */
  onFailure(error: ArcError): void;
}

/** Between looks at a store that is being loaded, and between failed attempts, ms. */
const waits = { baseMs: 50, maxMs: 2_000 };

/** Keeps `account` up to date with what the store holds under `prefix`, until `signal` is aborted. Counts anew where events were missed. */
export async function followUsage(
  store: Store,
  prefix: string,
  account: UsageAccount,
  { signal, onProgress, onFailure }: FollowOptions,
): Promise<void> {
  const backoff = createBackoff(waits);
  while (!signal.aborted) {
    // Until then a list is the store's, which another one is loading from already.
    while (!store.synced && !signal.aborted) await pause(waits.baseMs, signal);
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

/** In a function of its own, so that the list is not kept for as long as the watch goes on. */
async function countAll(
  store: Store,
  prefix: string,
  account: UsageAccount,
  signal: AbortSignal,
): Promise<void> {
  await account.load(await store.list(prefix, { signal }), yieldToEventLoop);
}
