import { Batches, untilAborted, within } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import { Freshness, type Store, type WriteResult } from '#shared/kubernetes/storage';
import type { User } from '../authentication/user/user.ts';
import type { KindDefinition } from '../kinds/definition.ts';
import { keyPrefix, storagePrefix } from '../registry/keys.ts';
import { followUsage } from './follow-usage.ts';
import { comesNear, exceededLimits, type HardLimit, quotaExceeded } from './limits.ts';
import { type Claim, UsageAccount, type Use } from './usage-account.ts';
import { type Rate, WriteRate } from './write-rate.ts';

/** What a namespace may hold of the kinds of one API group. */
export interface QuotaOptions {
  group: string;
  /** The limits at present. Throws ServiceUnavailable while they are not known. */
  limitsOf(namespace: string, plural: string): readonly HardLimit[];
  /** The bytes that one namespace may write in a minute, at present, and where that stands. */
  writeRate(): Pick<Rate, 'perMinute' | 'source'>;
  /** The users whose updates and rate are not limited: the programs that keep the objects. How much they create is. */
  isExempt(user: User): boolean;
}

/** A write that makes a namespace hold more. */
export interface GrowingWrite {
  definition: KindDefinition;
  namespace: string;
  name: string;
  growth: Use;
  /** Ends a wait for other writes. */
  signal: () => AbortSignal;
}

/** Holds namespaces to their limits. */
export interface Quota {
  /** The objects of other groups are not limited. */
  readonly group: string;
  isExempt(user: User): boolean;
  /**
   * Runs `put` if the write is within the limits of its namespace, and counts what it stored; in a dry run it stores nothing. Rejects with
   * Forbidden.
   */
  run<Result extends WriteResult | undefined>(
    write: GrowingWrite,
    put: () => Promise<Result>,
  ): Promise<Result>;
  /** Counts bytes that are about to be written. Throws TooManyRequests when the namespace has written too many. */
  charge(namespace: string, bytes: number): void;
  /** Throws ServiceUnavailable until everything that is stored has been counted. */
  mustBeCounted(): void;
  readonly account: Pick<UsageAccount, 'entries' | 'revision'>;
  /** Ended with the signal. */
  readonly done: Promise<void>;
}

export interface QuotaSurroundings {
  /** Ends the count. */
  signal: AbortSignal;
  /** The count cannot be kept up to date; it is tried again. */
  onFailure: (error: ArcError) => void;
  now: () => Date;
}

/** How long the first writes wait until what is stored has been counted, ms. */
const loadPatience = 1_000;
/** How old the count may be for a write that is far from every limit, ms. */
const longestUnchecked = 100;
/** More writes of this server that have not come back as events, and it waits for them: it bounds what is kept of them. */
const mostBehind = 10_000;

/**
 * Counts what the namespaces hold of the kinds of one group, by one list and one watch of the store, and admits writes by that.
 *
 * Within one server a limit is exact, however many writes arrive at once: a write in flight counts, and one that fits only if others fail
 * waits for their end. With several servers on one store each sees the others' writes when its watch delivers them. A write that comes near
 * a limit waits until all that was stored when it arrived is counted, so the limit is exceeded at most by what the other servers have in
 * flight at that moment.
 */
export function createQuota(
  store: Store,
  { group, limitsOf, writeRate, isExempt }: QuotaOptions,
  { signal, onFailure, now }: QuotaSurroundings,
): Quota {
  const account = new UsageAccount();
  const written = new WriteRate();
  const freshness = new Freshness(() => store.requestProgress());
  const loaded = Promise.withResolvers<void>();
  let isLoaded = false;
  /** By collection, those who wait until a write in flight has ended. */
  const waiting = new Map<string, PromiseWithResolvers<void>>();
  const done = followUsage(store, storagePrefix(group), account, {
    signal,
    onFailure,
    onProgress() {
      isLoaded = true;
      loaded.resolve();
      freshness.arrived(account.revision);
    },
  });

  const mustBeCounted = () => {
    if (!isLoaded) throw unavailable('what namespaces hold is being counted');
  };

  const untilLoaded = async () => {
    if (isLoaded) return;
    await within(loadPatience, 'counting what namespaces hold', loaded.promise).catch(mustBeCounted);
  };

  /** When everything was counted that was stored by then, ms. */
  let freshAt = Number.NEGATIVE_INFINITY;
  const readFresh = async () => {
    const began = performance.now();
    const newest = await store.revision();
    if (account.revision < newest && !(await freshness.wait(newest, signal)))
      throw unavailable('the count of what namespaces hold is behind the store');
    freshAt = began;
  };
  const reads = new Batches<undefined, void>(readFresh, Number.POSITIVE_INFINITY);
  /** Waits until everything is counted that the store holds now. */
  const catchUp = () => reads.ask(undefined);

  const claim = (collection: string, growth: Use): Claim => {
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
      throw new ArcError('Timeout', 'other writes of this namespace have not ended in time', { cause });
    });
  };

  /** Resolves when the write fits, its claim made in the same turn. Nothing is awaited between the last look and the claim. */
  const admit = async ({ definition, namespace, name, growth, signal: endOf }: GrowingWrite) => {
    await untilLoaded();
    const collection = keyPrefix(definition, namespace);
    let isFresh = false;
    let isLookedAt = performance.now() - freshAt < longestUnchecked;
    for (;;) {
      const limits = limitsOf(namespace, definition.plural);
      const use = account.stored(collection);
      const flying = account.inFlight(collection);
      const most = { objects: use.objects + flying.objects, bytes: use.bytes + flying.bytes };
      const isOver = exceededLimits(limits, most, growth).length > 0;
      const mustBeFresh = isOver || comesNear(limits, most, growth) || account.behind > mostBehind;
      if (mustBeFresh && !isFresh) {
        await catchUp();
        isFresh = true;
        continue;
      }
      if (!isLookedAt) {
        // Far from every limit an old count will do where a new one is not to be had.
        isFresh ||= await catchUp().then(
          () => true,
          () => false,
        );
        isLookedAt = true;
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
