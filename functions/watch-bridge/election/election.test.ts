import { afterEach, describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { createLogger } from '#shared/base/telemetry';
import { FakeClock } from '../../../shared/base/async/testing/fake-clock.ts';
import { FakeApi } from '../../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { type Election, runElection, type Term } from './election.ts';
import { type LeaseSpec, leases } from './lease.ts';

const key = { namespace: 'arc-system', name: 'watch-bridge' };
const log = createLogger({ name: 'test', level: 'silent' });

/** One replica: its own clock, its own way to the API, which may be cut. */
class Replica {
  readonly clock = new FakeClock();
  readonly control = new AbortController();
  readonly election: Election;
  readonly terms: Term[] = [];
  cut = false;

  constructor(name: string, server: FakeApi) {
    const api = new Proxy(server.client, {
      get: (target, property) => {
        if (this.cut) throw new ArcError('ServiceUnavailable', 'the network is cut');
        const value: unknown = Reflect.get(target, property);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    this.election = runElection({
      api,
      lease: key,
      identity: name,
      lead: async (term) => {
        this.terms.push(term);
        await new Promise((resolve) => term.signal.addEventListener('abort', resolve, { once: true }));
      },
      log,
      signal: this.control.signal,
      clock: this.clock,
      random: () => 0.5,
    });
  }

  get holds(): boolean {
    return this.terms.at(-1)?.holds() ?? false;
  }
}

/** Runs everything that does not wait for a clock. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

async function pass(seconds: number, ...replicas: Replica[]): Promise<void> {
  for (let second = 0; second < seconds; second += 1) {
    for (const { clock } of replicas) clock.advance(1000);
    await settle();
    await settle();
  }
}

const started: Replica[] = [];
afterEach(async () => {
  for (const { control, election } of started.splice(0)) {
    control.abort();
    await election.done;
  }
});
async function start(name: string, server: FakeApi): Promise<Replica> {
  const replica = new Replica(name, server);
  started.push(replica);
  await settle();
  return replica;
}

const specOf = (server: FakeApi): LeaseSpec | undefined => server.read(leases, key)?.spec;

describe('runElection', () => {
  it('lets the first process lead while it renews the Lease, and the second stand by', async () => {
    const server = new FakeApi();
    const a = await start('a', server);
    const b = await start('b', server);
    await pass(120, a, b);
    expect([a.election.role, b.election.role]).toEqual(['leader', 'standby']);
    expect([a.terms.length, b.terms.length]).toEqual([1, 0]);
    expect(specOf(server)).toMatchObject({ holderIdentity: 'a', leaseDurationSeconds: 15 });
    expect(specOf(server)?.renewTime).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
  });

  it('hands over at once when the leader ends', async () => {
    const server = new FakeApi();
    const a = await start('a', server);
    const b = await start('b', server);
    await pass(4, a, b);
    a.control.abort();
    await a.election.done;
    expect(specOf(server)?.holderIdentity).toBeUndefined();
    await pass(3, b);
    expect(b.holds).toBe(true);
    expect(specOf(server)).toMatchObject({ holderIdentity: 'b', leaseTransitions: 2 });
  });

  it('ends a term before another begins when the leader cannot reach the API', async () => {
    const server = new FakeApi();
    const a = await start('a', server);
    const b = await start('b', server);
    await pass(4, a, b);
    a.cut = true;
    for (let second = 0; second < 40; second += 1) {
      await pass(1, a, b);
      expect(a.holds && b.holds, `second ${second}`).toBe(false);
    }
    expect([a.holds, b.holds]).toEqual([false, true]);
    a.cut = false;
    await pass(4, a, b);
    expect(a.election.role).toBe('standby');
  });

  it('has one leader, too, when somebody deletes the Lease, and another one if the first has gone', async () => {
    const server = new FakeApi();
    const a = await start('a', server);
    const b = await start('b', server);
    await pass(4, a, b);
    server.remove(leases, key);
    await pass(3, b);
    expect([a.holds, b.holds]).toEqual([true, false]);
    await pass(3, a, b);
    expect(specOf(server)?.holderIdentity).toBe('a');
    a.cut = true;
    server.remove(leases, key);
    for (let second = 0; second < 20; second += 1) {
      await pass(1, a, b);
      expect(a.holds && b.holds, `second ${second}`).toBe(false);
    }
    expect([a.holds, b.holds]).toEqual([false, true]);
  });

  it('does not act after it was suspended for longer than its Lease, before any timer has run', async () => {
    const server = new FakeApi();
    const a = await start('a', server);
    const b = await start('b', server);
    await pass(4, a, b);
    await pass(20, b);
    expect(b.holds).toBe(true);
    a.clock.jump(20_000);
    expect(a.holds).toBe(false);
    await pass(4, a, b);
    expect([a.election.role, b.election.role]).toEqual(['standby', 'leader']);
  });

  it('measures a Lease by its own clock, whatever times are written in it', async () => {
    const renewTime = '2001-01-01T00:00:00.000000Z';
    const server = new FakeApi([
      {
        apiVersion: leases.apiVersion,
        kind: leases.kind,
        metadata: key,
        spec: { holderIdentity: 'long gone', leaseDurationSeconds: 15, renewTime },
      },
    ]);
    const a = await start('a', server);
    await pass(14, a);
    expect(a.election.role).toBe('standby');
    await pass(5, a);
    expect(a.election.role).toBe('leader');
  });

  it('stops leading when the Lease names another holder', async () => {
    const server = new FakeApi();
    const a = await start('a', server);
    await pass(1, a);
    const lease = server.read(leases, key);
    server.put({ ...lease, spec: { ...lease?.spec, holderIdentity: 'usurper' } } as never);
    await pass(4, a);
    expect([a.election.role, a.holds]).toEqual(['standby', false]);
  });

  it('rejects when its work rejects', async () => {
    const server = new FakeApi();
    const control = new AbortController();
    const { done } = runElection({
      api: server.client,
      lease: key,
      identity: 'a',
      lead: () => Promise.reject(new ArcError('InternalError', 'a mistake in the program')),
      log,
      signal: control.signal,
      clock: new FakeClock(),
    });
    await expect(done).rejects.toThrow('a mistake in the program');
  });
});
