import { afterEach, describe, expect, it, vi } from 'vitest';
import { createLogger } from '#shared/base/telemetry';
import { FakeClock } from '../../../shared/base/async/testing/fake-clock.ts';
import { FakeApi } from '../../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { type Election, runElection, type Term } from './election.ts';
import { Share } from './share.ts';

const names = ['a', 'b', 'c'].map((name) => `lease-${name}`);
const log = createLogger({ name: 'test', level: 'silent' });
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** One replica with a clock of its own, which stands for every Lease. */
class Replica {
  readonly clock = new FakeClock();
  readonly control = new AbortController();
  readonly elections: Election[];
  readonly #terms = new Map<string, Term>();
  #began = 0;

  constructor(identity: string, server: FakeApi, most?: number) {
    const share = new Share(identity, most);
    this.elections = names.map((name) =>
      runElection({
        api: server.client,
        lease: { namespace: 'arc-system', name },
        identity,
        share,
        lead: async (term) => {
          this.#terms.set(name, term);
          this.#began += 1;
          await new Promise((resolve) => term.signal.addEventListener('abort', resolve, { once: true }));
        },
        log,
        signal: this.control.signal,
        clock: this.clock,
        random: () => 0.5,
      }),
    );
  }

  /** What it may act for now. */
  get holds(): string[] {
    return names.filter((name) => this.#terms.get(name)?.holds());
  }

  /** How many terms it has begun. */
  get began(): number {
    return this.#began;
  }
}

const started: Replica[] = [];
afterEach(async () => {
  for (const { control, elections } of started.splice(0)) {
    control.abort();
    await Promise.all(elections.map(({ done }) => done));
  }
});

async function start(identity: string, server: FakeApi, most?: number): Promise<Replica> {
  const replica = new Replica(identity, server, most);
  started.push(replica);
  for (let turn = 0; turn < 4; turn += 1) await settle();
  return replica;
}

/** Time passes for `awake`. At no time do two of `all` hold the same Lease. */
async function pass(seconds: number, awake: readonly Replica[], all = awake): Promise<void> {
  for (let step = 0; step < seconds * 2; step += 1) {
    for (const { clock } of awake) clock.advance(500);
    for (let turn = 0; turn < 6; turn += 1) await settle();
    const held = all.flatMap(({ holds }) => holds);
    expect(new Set(held).size, `step ${step}: ${held.join()}`).toBe(held.length);
  }
}

const counts = (replicas: readonly Replica[]) => replicas.map(({ holds }) => holds.length);

describe('several Leases', () => {
  it('are all led by a replica that is alone, within eight seconds', async () => {
    const a = await start('a', new FakeApi());
    await pass(8, [a]);
    expect(a.holds).toEqual(names);
    expect(a.elections.map(({ role }) => role)).toEqual(['leader', 'leader', 'leader']);
  });

  it('are led by one replica each, where three start at once', async () => {
    const server = new FakeApi();
    const all = [await start('a', server), await start('b', server), await start('c', server)];
    await pass(60, all);
    expect(counts(all)).toEqual([1, 1, 1]);
    expect(all.map(({ began }) => began)).toEqual([1, 1, 1]);
  });

  it('spread over replicas that come later, each with one change of the leader at most, and rest then', async () => {
    const server = new FakeApi();
    const a = await start('a', server);
    await pass(20, [a]);
    const b = await start('b', server);
    await pass(20, [a, b]);
    expect(counts([a, b])).toEqual([2, 1]);
    const c = await start('c', server);
    await pass(20, [a, b, c]);
    expect(counts([a, b, c])).toEqual([1, 1, 1]);
    const terms = [a, b, c].map(({ began }) => began);
    expect(terms).toEqual([3, 1, 1]);
    await pass(120, [a, b, c]);
    expect([a, b, c].map(({ began }) => began)).toEqual(terms);
  });

  it('of a replica that was killed are led by others within 20 s, and the others keep theirs', async () => {
    const server = new FakeApi();
    const all = [await start('a', server), await start('b', server), await start('c', server)];
    await pass(20, all);
    const [, b, c] = all;
    if (b === undefined || c === undefined) throw new Error('three were started');
    await pass(20, [b, c]);
    expect(counts([b, c]).toSorted()).toEqual([1, 2]);
    expect(new Set([...b.holds, ...c.holds])).toEqual(new Set(names));
    expect(b.began + c.began).toBe(3);
    // As a new process it comes back, and gets one again.
    const again = await start('a-again', server);
    await pass(20, [b, c, again]);
    expect(counts([b, c, again])).toEqual([1, 1, 1]);
  });

  it('are not acted for by a replica that was suspended for longer than they last', async () => {
    const server = new FakeApi();
    const [a, b] = [await start('a', server), await start('b', server)];
    await pass(20, [a, b]);
    expect(counts([a, b]).toSorted()).toEqual([1, 2]);
    await pass(25, [b]);
    expect(b.holds).toEqual(names);
    a.clock.jump(25_000);
    expect(a.holds).toEqual([]);
    await pass(30, [a, b]);
    expect(counts([a, b]).toSorted()).toEqual([1, 2]);
  });

  it('are handed over at once when a replica ends', async () => {
    const server = new FakeApi();
    const [a, b] = [await start('a', server), await start('b', server)];
    await pass(20, [a, b]);
    a.control.abort();
    await Promise.all(a.elections.map(({ done }) => done));
    await pass(8, [b]);
    expect(b.holds).toEqual(names);
  });

  it('stay free rather than that a replica leads more than it may', async () => {
    const server = new FakeApi();
    const warn = vi.spyOn(log, 'warn');
    const a = await start('a', server, 1);
    await pass(25, [a]);
    expect(warn).not.toHaveBeenCalled();
    await pass(60, [a]);
    expect(a.holds.length).toBe(1);
    const warnings = warn.mock.calls.map(([, message]) => message);
    expect(warnings).toEqual([
      expect.stringContaining('ARC_BRIDGE_MOST_SHARDS'),
      expect.stringContaining('ARC_BRIDGE_MOST_SHARDS'),
    ]);
    expect(a.elections.map(({ role }) => role).toSorted()).toEqual(['leader', 'standby', 'standby']);
    const rest = [await start('b', server, 1), await start('c', server, 1)];
    await pass(10, [a, ...rest]);
    expect(counts([a, ...rest])).toEqual([1, 1, 1]);
    await pass(60, [a, ...rest]);
    expect(warn).toHaveBeenCalledTimes(2);
  });
});
