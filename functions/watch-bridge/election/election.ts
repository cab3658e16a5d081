import { type Clock, jittered, pause, startDeadline } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import type { Logger } from '#shared/base/telemetry';
import type { Key, KubeClient } from '#shared/kubernetes/client';
import { heldBy, isWanted, type Lease, leases, ObservedLease, released, wanted, written } from './lease.ts';
import { Share } from './share.ts';

/** As in client-go, in ms: a leader stops five seconds before another one may take over. */
const timing = {
  /** How long a Lease is valid after its last renewal. */
  lease: 15_000,
  /** How long a leader may act after the start of its last successful renewal. Less than `lease`. */
  renewDeadline: 10_000,
  /** Time between attempts, +-25 %. */
  retry: 2_000,
};
const requestDeadlineMs = 5_000;
const leftText =
  'nobody leads this shard, and this replica leads ARC_BRIDGE_MOST_SHARDS already: add a replica or raise that';

/** The time for which this process leads. */
export interface Term {
  /** Aborted when the term ends. */
  signal: AbortSignal;
  /**
   * False as soon as another process may lead. Ask it before each action: a process that was suspended for longer than its Lease
   * continues where it stopped, before any of its timers runs.
   */
  holds(): boolean;
}

export interface ElectionOptions {
  api: KubeClient;
  lease: Required<Key>;
  /** Unique to this run of this process. */
  identity: string;
  /** Runs while this process leads and returns when the term ends. A rejection ends the election. */
  lead(term: Term): Promise<void>;
  log: Logger;
  /** Ends the election and releases the Lease if it is held. */
  signal: AbortSignal;
  /** A monotonic clock. */
  clock: Clock;
  random?: () => number;
  /** Coordinates the Leases of this process: the same for all of its elections. Default: none. */
  share?: Share;
}

export interface Election {
  readonly role: 'unknown' | 'standby' | 'leader';
  /** When the last attempt began, ms of `clock`. */
  readonly lastTurn: number;
  /** Resolves after the signal, once the Lease is released; rejects when `lead` does. */
  readonly done: Promise<void>;
}

/**
 * Leads whenever the Lease is free. A leader acts only until `renewDeadline` after it *began* its last successful renewal, by its own
 * clock; others wait for `lease` after they first saw that renewal, which cannot be earlier. So two processes never lead at once,
 * whatever their clocks show. A request that a leader began before its term ended may still arrive afterwards.
 */
export function runElection(options: ElectionOptions): Election {
  const { identity, lead, log, signal, clock, random = Math.random } = options;
  const { share = new Share(identity) } = options;
  const observed = new ObservedLease();
  const state: { role: Election['role']; lastTurn: number } = { role: 'unknown', lastTurn: clock.now() };
  const claim = createClaim(options, observed, share);
  /** Other replicas have precedence for a Lease that was ceded to one of them. */
  let handicapMs = 0;
  /** The Lease has been free for long, and this replica may not take it. */
  let wasLeft = false;

  /** When the successful claim began; 'theirs': another replica holds the Lease, or should; 'unclear': lost race, or no answer. */
  const attempt = async (
    deadlineMs: number,
    mayClaim: (found: Lease | undefined) => boolean,
  ): Promise<number | 'theirs' | 'unclear'> => {
    state.lastTurn = clock.now();
    try {
      return (await claim(deadlineMs, mayClaim)) ?? 'theirs';
    } catch (caught) {
      const error = ArcError.from(caught);
      if (!signal.aborted && !ArcError.is(error, 'Conflict', 'AlreadyExists'))
        log.warn({ err: error }, 'cannot read or write the Lease; retrying');
      return 'unclear';
    }
  };

  /** Takes the Lease if it is free and this replica's turn. */
  const take = async (): Promise<number | 'theirs' | 'unclear'> => {
    let taken = false;
    let isLeft = false;
    const result = await attempt(requestDeadlineMs, () => {
      const freeMs = observed.freeFor(identity, clock.now());
      taken = share.take(freeMs - handicapMs);
      isLeft = !taken && share.isFull && freeMs > 2 * timing.lease;
      return taken;
    });
    if (isLeft && !wasLeft) log.warn({ identity }, leftText);
    if (result !== 'unclear') wasLeft = isLeft;
    if (taken && typeof result !== 'number') share.give();
    return result;
  };

  const serve = async (since: number): Promise<void> => {
    const control = new AbortController();
    let renewed = since;
    const left = () => renewed + timing.renewDeadline - clock.now();
    const holds = () => !control.signal.aborted && left() > 0;
    const end = () => control.abort();
    signal.addEventListener('abort', end, { once: true });
    state.role = 'leader';
    log.info({ identity }, 'started leading');
    const work = lead({ signal: control.signal, holds }).finally(end);
    // Awaited after the loop; until then a rejection must not count as unhandled.
    work.catch(() => undefined);
    while (holds()) {
      await pause(Math.min(jittered(timing.retry, random), left()), control.signal, clock);
      if (!holds()) break;
      const result = await attempt(Math.min(requestDeadlineMs, left()), (found) => {
        if (found !== undefined && isWanted(found) && share.canSpare) handicapMs = timing.lease;
        return handicapMs === 0;
      });
      if (result === 'theirs') break;
      if (result !== 'unclear') renewed = result;
    }
    control.abort();
    signal.removeEventListener('abort', end);
    state.role = 'unknown';
    try {
      await work;
    } finally {
      share.give();
    }
    log.info({ identity, holder: observed.holder }, 'stopped leading');
    if (handicapMs > 0) await release(options, observed);
  };

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const result = await take();
      if (signal.aborted) break;
      if (typeof result === 'number') {
        handicapMs = 0;
        await serve(result);
        continue;
      }
      // The role stays as it was while the server does not answer.
      if (result === 'theirs') state.role = 'standby';
      if (observed.holder !== '' && observed.holder !== identity) handicapMs = 0;
      await pause(jittered(timing.retry, random), signal, clock);
    }
    await release(options, observed);
  };

  return {
    get role() {
      return state.role;
    },
    get lastTurn() {
      return state.lastTurn;
    },
    done: run(),
  };
}

/** Makes one attempt to take or renew the Lease. Resolves with the time the successful write began, undefined when another holds it. */
function createClaim(options: ElectionOptions, observed: ObservedLease, share: Share) {
  const { api, lease: key, identity, clock, signal } = options;
  return async (
    deadlineMs: number,
    mayClaim: (found: Lease | undefined) => boolean,
  ): Promise<number | undefined> => {
    const deadline = startDeadline(deadlineMs, `Lease ${key.name}`, signal);
    try {
      const found = await api.get(leases, key, deadline.signal);
      // The holder of a deleted Lease may still act on it.
      if (found !== undefined || observed.holder === '') observed.observe(found ?? {}, clock.now());
      share.observe(key.name, observed.holder);
      if (!observed.isFree(identity, clock.now())) {
        if (found !== undefined && share.asksFor(key.name) && !isWanted(found))
          await api.replace(leases, wanted(found, identity), deadline.signal);
        return undefined;
      }
      if (!mayClaim(found)) return undefined;
      const began = clock.now();
      const spec = heldBy(identity, timing.lease, new Date(), found?.spec);
      const lease =
        found === undefined
          ? await api.create(leases, leaseOf(key, spec), deadline.signal)
          : await api.replace(leases, written(found, spec), deadline.signal);
      observed.observe(lease, clock.now());
      share.observe(key.name, identity);
      return began;
    } finally {
      deadline.end();
    }
  };
}

/** Releases the Lease, so that the next leader need not wait for it to expire. */
async function release(
  { api, lease: key, identity, log }: ElectionOptions,
  { holder }: ObservedLease,
): Promise<void> {
  if (holder !== identity) return;
  const deadline = startDeadline(requestDeadlineMs, `release of Lease ${key.name}`);
  try {
    const found = await api.get(leases, key, deadline.signal);
    if (found?.spec?.holderIdentity !== identity) return;
    await api.replace(leases, written(found, released(new Date(), found.spec)), deadline.signal);
  } catch (caught) {
    log.warn({ err: ArcError.from(caught) }, 'cannot release the Lease; it will expire');
  } finally {
    deadline.end();
  }
}

function leaseOf({ name, namespace }: Required<Key>, spec: Lease['spec'] & object): Lease {
  return { apiVersion: leases.apiVersion, kind: leases.kind, metadata: { name, namespace }, spec };
}
