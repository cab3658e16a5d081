import { type Clock, jittered, pause, startDeadline } from '#shared/async';
import { ArcError } from '#shared/errors';
import type { Key, KubeClient } from '#shared/kube';
import type { Logger } from '#shared/telemetry';
import { heldBy, type Lease, LeaseSighting, leases, released } from './lease.ts';

/** All in ms. client-go's values, which leave the leader five seconds to fall silent before anybody may take over. */
export interface ElectionTiming {
  /** How long a Lease holds after its last renewal. */
  lease: number;
  /** How long after the start of its last renewal that worked a leader may act. Less than `lease`. */
  renewDeadline: number;
  /** Between attempts, +-25 %. */
  retry: number;
}

const defaults: ElectionTiming = { lease: 15_000, renewDeadline: 10_000, retry: 2_000 };
const longestRequestMs = 5_000;

/** The time for which this process leads. */
export interface Term {
  /** Aborted when the term is over. */
  signal: AbortSignal;
  /**
   * False from the moment somebody else may lead. Asked before each act: a process that was stopped for longer than its
   * Lease goes on where it stood, before any timer tells it the time.
   */
  holds(): boolean;
}

export interface ElectionOptions {
  api: KubeClient;
  lease: Required<Key>;
  /** Of this process and of no other, nor of it after a restart. */
  identity: string;
  /** Runs for as long as this process leads and ends when the term does. What it rejects with ends the election. */
  lead(term: Term): Promise<void>;
  log: Logger;
  /** Ends the election; a Lease that is held is released. */
  signal: AbortSignal;
  /** A clock that no correction moves. */
  clock: Clock;
  random?: () => number;
  timing?: ElectionTiming;
}

export interface Election {
  readonly role: 'unknown' | 'standby' | 'leader';
  /** When something was last tried, ms of `clock`. */
  readonly lastTurn: number;
  /** Resolves after the signal, with the Lease released; rejects with what `lead` rejected with. */
  readonly done: Promise<void>;
}

/**
 * Leads whenever the Lease can be had. A leader acts only until `renewDeadline` after it *began* its last renewal that worked, by
 * a clock of its own; others wait for `lease` after they first saw that renewal, which cannot be earlier. So two never
 * lead at once, whatever their clocks say; what a leader had begun before its term ended may still arrive after.
 */
export function runElection(options: ElectionOptions): Election {
  const { identity, lead, log, signal, clock, random = Math.random, timing = defaults } = options;
  const sighting = new LeaseSighting();
  const state: { role: Election['role']; lastTurn: number } = { role: 'unknown', lastTurn: clock.now() };
  const claim = createClaim(options, sighting, timing);

  /** When the claim that worked was begun; 'theirs'; or 'unclear': a race was lost or the server cannot be asked. */
  const attempt = async (deadlineMs: number): Promise<number | 'theirs' | 'unclear'> => {
    state.lastTurn = clock.now();
    try {
      return (await claim(deadlineMs)) ?? 'theirs';
    } catch (caught) {
      const error = ArcError.from(caught);
      if (!signal.aborted && !ArcError.is(error, 'Conflict', 'AlreadyExists'))
        log.warn({ err: error }, 'the Lease cannot be read or written and will be tried again');
      return 'unclear';
    }
  };

  const serve = async (since: number): Promise<void> => {
    const control = new AbortController();
    let renewed = since;
    const left = () => renewed + timing.renewDeadline - clock.now();
    const holds = () => !control.signal.aborted && left() > 0;
    const end = () => control.abort();
    signal.addEventListener('abort', end, { once: true });
    state.role = 'leader';
    log.info({ identity }, 'leading');
    const work = lead({ signal: control.signal, holds }).finally(end);
    // Looked at below, after the loop; it must not count as unhandled until then.
    work.catch(() => undefined);
    while (holds()) {
      await pause(Math.min(jittered(timing.retry, random), left()), control.signal, clock);
      if (!holds()) break;
      const result = await attempt(Math.min(longestRequestMs, left()));
      if (result === 'theirs') break;
      if (result !== 'unclear') renewed = result;
    }
    control.abort();
    signal.removeEventListener('abort', end);
    state.role = 'unknown';
    await work;
    log.info({ identity, holder: sighting.holder }, 'leading no longer');
  };

  const run = async (): Promise<void> => {
    while (!signal.aborted) {
      const result = await attempt(longestRequestMs);
      if (signal.aborted) break;
      if (typeof result === 'number') {
        await serve(result);
        continue;
      }
      // What has been seen stays true while the server cannot be asked.
      if (result === 'theirs') state.role = 'standby';
      await pause(jittered(timing.retry, random), signal, clock);
    }
    await release(options, sighting);
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

/** One attempt to take or renew the Lease: when the write that worked was begun, undefined when it is another's. */
function createClaim(options: ElectionOptions, sighting: LeaseSighting, timing: ElectionTiming) {
  const { api, lease: key, identity, clock, signal } = options;
  return async (deadlineMs: number): Promise<number | undefined> => {
    const deadline = startDeadline(deadlineMs, `Lease ${key.name}`, signal);
    try {
      const found = await api.get(leases, key, deadline.signal);
      if (found !== undefined) sighting.see(found, clock.now());
      if (found !== undefined && !sighting.isFree(identity, clock.now())) return undefined;
      const began = clock.now();
      const spec = heldBy(identity, timing.lease, new Date(), found?.spec);
      const written =
        found === undefined
          ? await api.create(leases, leaseOf(key, spec), deadline.signal)
          : await api.replace(leases, { ...found, spec }, deadline.signal);
      sighting.see(written, clock.now());
      return began;
    } finally {
      deadline.end();
    }
  };
}

/** Nothing is acted on any more: the next one need not wait for the Lease to run out. */
async function release(
  { api, lease: key, identity, log }: ElectionOptions,
  { holder }: LeaseSighting,
): Promise<void> {
  if (holder !== identity) return;
  const deadline = startDeadline(longestRequestMs, `release of Lease ${key.name}`);
  try {
    const found = await api.get(leases, key, deadline.signal);
    if (found?.spec?.holderIdentity !== identity) return;
    await api.replace(leases, { ...found, spec: released(new Date(), found.spec) }, deadline.signal);
  } catch (caught) {
    log.warn({ err: ArcError.from(caught) }, 'the Lease could not be released and will run out');
  } finally {
    deadline.end();
  }
}

function leaseOf({ name, namespace }: Required<Key>, spec: Lease['spec'] & object): Lease {
  return { apiVersion: leases.apiVersion, kind: leases.kind, metadata: { name, namespace }, spec };
}
