import { Batches, untilAborted, within } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { Freshness, type Store, type WriteResult } from '#shared/kubernetes/storage';
import type { User } from '../authentication/user/user.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import { keyPrefix, storagePrefix } from '../registry/keys.ts';
import { followUsage } from './follow-usage.ts';
import { exceededLimits, type HardLimit, isNearLimit, quotaExceeded } from './limits.ts';
import { type Claim, type ResourceUsage, UsageAccount } from './usage-account.ts';
import { type Rate, WriteRate } from './write-rate.ts';

/** The quota of namespaces for the kinds of an API group. */
export interface QuotaOptions {
  group: string;
  /** Returns the current limits. Throws ServiceUnavailable until they are known. */
  limitsOf(namespace: string, plural: string): readonly HardLimit[];
  /** Returns the current write rate per namespace, and where it is configured. */
  writeRate(): Pick<Rate, 'perMinute' | 'source'>;
  /** Tells whether a user's updates and write rate are unlimited, as for controllers. Creates are always limited. */
  isExempt(user: User): boolean;
}

/** A write that grows the usage of a namespace. */
export interface GrowingWrite {
  definition: KindDefinition;
  namespace: string;
  name: string;
  growth: ResourceUsage;
  /** Aborts the wait for other writes. */
  signal: () => AbortSignal;
}

/** Enforces the limits of namespaces. */
export interface Quota {
  /** Objects of other groups are not limited. */
  readonly group: string;
  isExempt(user: User): boolean;
  /**
   * Runs `put` if the write is within the limits of its namespace, and counts the result; a dry run returns undefined. Rejects with
   * Forbidden.
   */
  run<Result extends WriteResult | undefined>(
    write: GrowingWrite,
    put: () => Promise<Result>,
  ): Promise<Result>;
  /** Charges bytes to the write rate. Throws TooManyRequests if the namespace exceeds it. */
  charge(namespace: string, bytes: number): void;
  /** Throws ServiceUnavailable until all stored objects are counted. */
  mustBeCounted(): void;
  readonly account: Pick<UsageAccount, 'entries' | 'revision'>;
  /** Resolves after `signal` is aborted and counting has stopped. */
  readonly done: Promise<void>;
}

export interface QuotaDependencies {
  /** Stops counting. */
  signal: AbortSignal;
  /** Called when counting fails; it is retried. */
  onFailure: (error: ArcError) => void;
  now: () => Date;
}

/** Milliseconds for which the first writes wait until all objects are counted. */
const loadTimeoutMs = 1_000;
/** Maximum age of the count in milliseconds for a write that is far below every limit. */
const maxStalenessMs = 100;
/** Limit of own writes whose events have not arrived; above it, writes wait for the events. */
const maxBehind = 10_000;

/**
 * Returns a quota that counts the objects of a group per namespace with one list and watch of the store.
 *
 * Limits are exact within a server: writes in flight are counted, and a write that fits only if others fail waits for them. Servers that
 * share a store see each other's writes through the watch. A write near a limit waits until everything stored before is counted, so
 * other servers can exceed the limit at most by their writes in flight.
 */
export function createQuota(
  store: Store,
  { group, limitsOf, writeRate, isExempt }: QuotaOptions,
  { signal, onFailure, now }: QuotaDependencies,
): Quota {
  const account = new UsageAccount();
  const written = new WriteRate();
  const freshness = new Freshness(() => store.requestProgress());
  const loaded = Promise.withResolvers<void>();
  let isLoaded = false;
  /** Waiters for the end of a write in flight, by collection. */
  const waiting = new Map<string, PromiseWithResolvers<void>>();
  const done = followUsage(store, storagePrefix(group), account, {
    signal,
    onFailure,
    onProgress() {
      isLoaded = true;
      loaded.resolve();
      freshness.advance(account.revision);
    },
  });

  const mustBeCounted = () => {
    if (!isLoaded) throw unavailable('the objects of namespaces are being counted');
  };

  const untilLoaded = async () => {
    if (isLoaded) return;
    await within(loadTimeoutMs, 'counting the objects of namespaces', loaded.promise).catch(mustBeCounted);
  };

  /** Time in milliseconds at which the account last matched the store. */
  let freshAt = Number.NEGATIVE_INFINITY;
  const readFresh = async () => {
    const began = performance.now();
    const newest = await store.revision();
    if (account.revision < newest && !(await freshness.wait(newest, signal)))
      throw unavailable('the count of the objects of namespaces is behind the store');
    freshAt = began;
  };
  const reads = new Batches<undefined, void>(readFresh, Number.POSITIVE_INFINITY);
  /** Waits until everything currently in the store is counted. */
  const catchUp = () => reads.ask(undefined);

  const claim = (collection: string, growth: ResourceUsage): Claim => {
    const claimed = account.claim(collection, growth);
    return {
      settle(revision) {
        claimed.settle(revision);
        waiting.get(collection)?.resolve();
        waiting.delete(collection);
      },
    };
  };

  const nextSettlement = async (collection: string, end: AbortSignal) => {
    const settled = waiting.get(collection) ?? Promise.withResolvers<void>();
    waiting.set(collection, settled);
    await untilAborted(settled.promise, end).catch((cause: unknown) => {
      throw new ArcError('Timeout', 'timed out waiting for other writes of this namespace', { cause });
    });
  };

  /** Resolves with a claim when the write fits. The last check and the claim run without an await in between, so they are atomic. */
  const admit = async ({ definition, namespace, name, growth, signal: endOf }: GrowingWrite) => {
    await untilLoaded();
    const collection = keyPrefix(definition, namespace);
    let isFresh = false;
    let isRecent = performance.now() - freshAt < maxStalenessMs;
    for (;;) {
      const limits = limitsOf(namespace, definition.plural);
      const use = account.stored(collection);
      const inFlight = account.inFlight(collection);
      const maxUse = { objects: use.objects + inFlight.objects, bytes: use.bytes + inFlight.bytes };
      const isOver = exceededLimits(limits, maxUse, growth).length > 0;
      const mustBeFresh = isOver || isNearLimit(limits, maxUse, growth) || account.behind > maxBehind;
      if (mustBeFresh && !isFresh) {
        await catchUp();
        isFresh = true;
        continue;
      }
      if (!isRecent) {
        // Far below every limit, a stale count suffices if the store is unavailable.
        isFresh ||= await catchUp().then(
          () => true,
          () => false,
        );
        isRecent = true;
        continue;
      }
      if (!isOver) return claim(collection, growth);
      const exceeded = exceededLimits(limits, use, growth);
      if (exceeded.length > 0) throw quotaExceeded(definition, name, exceeded, { use, growth });
      await nextSettlement(collection, endOf());
      isFresh = false;
    }
  };

  return {
    group,
    isExempt,
    account,
    mustBeCounted,
    done,
    charge: (namespace, bytes) => written.take(namespace, bytes, { ...writeRate(), now: now().getTime() }),
    async run(write, put) {
      const claimed = await admit(write);
      let revision: number | undefined;
      try {
        const result = await put();
        if (result?.ok === true) revision = result.revision;
        return result;
      } finally {
        claimed.settle(revision);
      }
    },
  };
}

function unavailable(what: string): ArcError {
  return new ArcError('ServiceUnavailable', `${what}: try again`, { details: { retryAfterSeconds: 1 } });
}
