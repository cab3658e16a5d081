import { beforeEach, describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { type ArtifactWorkflow, type Endpoint, finalizers, type Order, type OrderPlan } from '#shared/domain';
import { FakeClock } from '../../../shared/base/async/testing/fake-clock.ts';
import {
  artifactWorkflow,
  endpoint,
  ociTemplate,
  ociType,
  order,
} from '../../../shared/domain/testing/objects.ts';
import type { Observed } from '../view/kept.ts';
import type { DueEvent } from './agenda.ts';
import { Dispatcher, type DispatcherOptions } from './dispatcher.ts';
import { changeOf } from './neighbours.ts';

const minute = 60_000;
const start = Date.parse('2026-01-02T03:00:00Z');

let clock: FakeClock;
beforeEach(() => {
  clock = new FakeClock();
});

/** A dispatcher with a broker that takes each event at once, and what it took: `<kind> <name> <step>`. */
function setUp(objects: readonly object[], options: Partial<DispatcherOptions> = {}) {
  const taken: string[] = [];
  const pending = new Map<string, () => void>();
  let repairs = 0;
  const dispatcher = new Dispatcher({
    clock,
    timeOfDay: { now: () => start + clock.now() },
    random: () => 0.5,
    outbox: {
      offer(key, event, at) {
        pending.get(key)?.();
        pending.set(
          key,
          clock.after(Math.max(0, at - clock.now()), () => send(key, event)),
        );
      },
      forget(key) {
        pending.get(key)?.();
        pending.delete(key);
      },
    },
    repaired: () => {
      repairs += 1;
    },
    ...options,
  });
  const send = (key: string, event: DueEvent) => {
    pending.delete(key);
    dispatcher.agenda.started(key, event);
    taken.push(`${event.object.kind} ${event.object.metadata.name} ${event.step}`);
    dispatcher.agenda.ended(key);
  };
  const change = (after: object, before?: object) => {
    const kept = (object: object | undefined) => object && dispatcher.keep(object as Observed);
    const found = changeOf(kept(before), kept(after));
    if (found) dispatcher.change(found);
  };
  for (const object of objects) change(object);
  const take = (ms = 0) => {
    clock.advance(ms);
    return taken.splice(0).toSorted();
  };
  return { dispatcher, change, take, repairs: () => repairs };
}

/** An Endpoint that nobody has anything to do for. */
function settled(name: string, spec: Partial<Endpoint['spec']> = {}): Endpoint {
  const secret = spec.secretRef === undefined ? {} : { secretGeneration: 1 };
  const probed = { generation: 1, ...secret };
  return endpoint(name, spec, {
    ...secret,
    probed,
    lastProbeTime: new Date(start + 24 * 60 * minute).toISOString(),
  });
}

const guarded = settled('source', { secretRef: { name: 'login' } });
const base = [settled('source'), settled('destination'), ociType(), ociTemplate()];
const fresh = order('one', ['a:1']);

async function started(...args: Parameters<typeof setUp>) {
  const all = setUp(...args);
  await all.dispatcher.synced();
  return all;
}

describe('the dispatcher', () => {
  it('does not decompose an Order again while its ArtifactWorkflows are being created', async () => {
    const three = order('three', ['a:1', 'b:1', 'c:1']);
    const held = { ...three, metadata: { ...three.metadata, finalizers: [finalizers.children] } };
    const { change, dispatcher, take } = await started([...base, held]);
    expect(take()).toContain('Order three decompose');
    const planned = dispatcher.view.planOf(held).artifacts;
    const create = (one: OrderPlan['artifacts'][number] | undefined) => {
      if (one?.state !== 'ready') throw new Error('the Order cannot be planned');
      const { metadata } = one.workflow;
      change({ ...one.workflow, metadata: { ...metadata, uid: metadata.name, generation: 1 } });
    };
    create(planned[0]);
    expect(take(999)).not.toContain('Order three decompose');
    create(planned[1]);
    expect(take(999)).not.toContain('Order three decompose');
    expect(take(1)).toContain('Order three decompose');
  });

  it('sends the same events whatever the order in which kinds are listed', async () => {
    const unseen = { ...endpoint('unseen'), status: {} };
    const objects = [...base, unseen, fresh, artifactWorkflow('open', { status: {} })];
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(objects, { minLength: objects.length }), async (shuffled) => {
        clock = new FakeClock();
        const { dispatcher, take } = await started(shuffled);
        expect(take(1)).toEqual([
          'ArtifactWorkflow open render',
          'Endpoint unseen track-credentials',
          'Order one decompose',
        ]);
        dispatcher.close();
      }),
      { numRuns: 20 },
    );
  });

  it('sends nothing before everything has been listed, and misses no change meanwhile', async () => {
    const { dispatcher, change, take } = setUp(base);
    change(fresh);
    expect(take(minute)).toEqual([]);
    await dispatcher.synced();
    expect(take(1)).toEqual(['Order one decompose']);
  });

  it('lets another one of an Order start when the first waits for its place at the destination', async () => {
    const spec = { ...artifactWorkflow('a').spec, parallelism: 1 };
    const child = (name: string, status: NonNullable<ArtifactWorkflow['status']>) => {
      const { labels, ...metadata } = artifactWorkflow(name).metadata;
      const own = { ...labels, 'arc.opendefense.cloud/artifact': name };
      return artifactWorkflow(name, { spec, status, metadata: { ...metadata, labels: own } });
    };
    const configSecret = { name: 's' };
    const wait = (waitReason: 'LimitReached' | 'PlaceInUse') => ({
      configSecret,
      waitReason,
      waitMessage: 'x',
    });
    const first = child('a', { configSecret });
    const { change, take } = await started([
      ...[...base, order('order', ['a:1', 'b:1'], { parallelism: 1 })],
      ...[first, child('b', wait('LimitReached'))],
    ]);
    const isSubmit = (event: string) => event.endsWith(' submit');
    expect(take(1).filter(isSubmit)).toEqual(['ArtifactWorkflow a submit']);
    change(child('a', wait('PlaceInUse')), first);
    expect(take(1).filter(isSubmit)).toContain('ArtifactWorkflow b submit');
  });

  it('sends a duty again after 1, 2, 4 s and so on up to a minute while it stays due, and no more once it is not', async () => {
    const { dispatcher, change, take } = await started([...base, fresh]);
    const times: number[] = [];
    for (let at = 0; at < 5 * minute; at += 1_000)
      if (take(at === 0 ? 0 : 1_000).length > 0) times.push(at / 1_000);
    expect(times.slice(0, 7)).toEqual([0, 1, 3, 7, 15, 31, 63]);
    expect(times[7]).toBe(123);
    const deleted = {
      ...fresh,
      metadata: { ...fresh.metadata, deletionTimestamp: '2026-01-02T03:00:00Z', generation: 2 },
    };
    change({ ...deleted, status: { observedGeneration: 2 } }, fresh);
    expect(take(10 * minute)).toEqual([]);
    expect(dispatcher.agenda.due).toBe(0);
  });

  it('sends at once what is due for another reason', async () => {
    const { change, take } = await started([...base, fresh]);
    expect(take(1)).toEqual(['Order one decompose']);
    const edited = { ...fresh, metadata: { ...fresh.metadata, generation: 2 } };
    change(edited, fresh);
    expect(take(1)).toEqual(['Order one decompose']);
  });

  it('sends nothing for what is as it should be, however long', async () => {
    const { take, repairs } = await started(base);
    expect(take(12 * 60 * minute)).toEqual([]);
    expect(repairs()).toBe(0);
  });

  it('finds in a sweep what no change has shown, within a minute', async () => {
    const { dispatcher, take, repairs } = await started(base);
    dispatcher.view.put(fresh);
    expect(take(minute - 1)).toEqual([]);
    expect(take(2)).toEqual(['Order one decompose']);
    expect(repairs()).toBe(1);
  });

  it('looks at the Secrets of Endpoints every minute while they are in use, and every hour while they are not', async () => {
    const { change, take } = await started([guarded, settled('destination'), ociType(), ociTemplate()]);
    expect(take(59 * minute)).toEqual([]);
    expect(take(minute)).toEqual(['Endpoint source track-credentials']);
    const open = artifactWorkflow('open', { status: { phase: 'Running' } } as Partial<ArtifactWorkflow>);
    const looks = () => take(minute).filter((event) => event.endsWith('track-credentials'));
    take(10 * minute);
    change(open);
    // The last look is long ago: one comes at once.
    expect(take(0).filter((event) => event.endsWith('track-credentials'))).toHaveLength(1);
    expect([looks().length, looks().length]).toEqual([1, 1]);
  });

  it('looks for a Secret that has never been there twice within the time for which artifacts wait', async () => {
    const missing = { ...guarded, status: { ...guarded.status, secretGeneration: undefined } };
    const waiting = { ...fresh, status: { phase: 'Pending', observedGeneration: 1 } };
    const { take } = await started([missing, settled('destination'), ociType(), ociTemplate(), waiting]);
    expect(take(10_000).filter((event) => event.endsWith('track-credentials'))).toHaveLength(2);
  });

  it('looks at an Endpoint at once when its Secret is written, where Secrets are watched', async () => {
    const secret = (resourceVersion: string) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'login', namespace: 'team', uid: 'uid-login', resourceVersion },
    });
    const { change, take } = await started([guarded, secret('1')], { watchSecrets: true });
    expect(take(1)).toEqual([]);
    change(secret('2'), secret('1'));
    expect(take(1)).toEqual(['Endpoint source track-credentials']);
  });

  it('looks at an Endpoint at once when somebody has written an annotation on it', async () => {
    const { change, take } = await started([guarded]);
    expect(take(1)).toEqual([]);
    change({ ...guarded, metadata: { ...guarded.metadata, annotations: { rotated: '1' } } }, guarded);
    expect(take(1)).toEqual(['Endpoint source track-credentials']);
  });

  it('forgets an object that is gone', async () => {
    const { dispatcher, take } = await started([...base, fresh]);
    take(1);
    dispatcher.change({ kind: 'Order', before: fresh });
    expect(take(10 * minute)).toEqual([]);
    expect(dispatcher.agenda.due).toBe(0);
  });

  it('looks at an Order of many artifacts at the pace of its status, not with each of them', async () => {
    const count = 300;
    const many = order(
      'many',
      Array.from({ length: count }, (_, at) => `a:${at}`),
    );
    const held = {
      ...many,
      metadata: { ...many.metadata, finalizers: ['arc.opendefense.cloud/children'] },
    } as Order;
    const { dispatcher, change } = await started([...base, held]);
    let looks = 0;
    const planOf = dispatcher.view.planOf.bind(dispatcher.view);
    dispatcher.view.planOf = (one) => {
      looks += 1;
      return planOf(one);
    };
    const owner = {
      apiVersion: many.apiVersion,
      kind: 'Order',
      name: 'many',
      uid: many.metadata.uid ?? '',
      controller: true,
    };
    for (let at = 0; at < count; at += 1) {
      const child = artifactWorkflow(`many-${at}`);
      change({ ...child, metadata: { ...child.metadata, ownerReferences: [owner] } });
      clock.advance(10);
    }
    expect(looks).toBeLessThan(20);
  });
});
