import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { keyOf } from '../identity/artifact.ts';
import type { ArtifactWorkflow } from '../kinds/artifact-workflow.ts';
import type { OnChange, Order } from '../kinds/order.ts';
import { annotations, finalizers, labels } from '../kinds/well-known.ts';
import { rollUp } from '../roll-up/rollup.ts';
import { endpoint } from '../testing/objects.ts';
import { broken, done, image, inputs, now, order, stored } from '../testing/plan-objects.ts';
import { shortHash } from '../values/hash.ts';
import { decideChildren, decideDeletion } from './children.ts';
import { type PlanInputs, planOrder } from './plan.ts';

function turned(count: number): PlanInputs {
  const from = endpoint('from', { secretRef: { name: 'login' } }, { secretGeneration: count });
  return inputs({ endpoints: [from, endpoint('to')] });
}

function decide(of: Order, given: PlanInputs, existing: ArtifactWorkflow[]) {
  return decideChildren(of, planOrder(of, given), existing);
}

function planned(of: Order, given: PlanInputs = inputs()): ArtifactWorkflow[] {
  return planOrder(of, given).artifacts.flatMap((one) => (one.state === 'ready' ? [one.workflow] : []));
}

function first(of: Order, given: PlanInputs = inputs()): ArtifactWorkflow {
  const [workflow] = planned(of, given);
  if (!workflow) throw new Error('nothing planned');
  return workflow;
}

const names = (list: ArtifactWorkflow[]) => list.map(({ metadata }) => metadata.name);
const one = order([image('a')]);

function superseded(one: ArtifactWorkflow): ArtifactWorkflow {
  const marks = { ...one.metadata.labels, [labels.superseded]: 'true' };
  return { ...one, metadata: { ...one.metadata, labels: marks } };
}

describe('decideChildren', () => {
  it('creates what is planned, after the finalizer is on', () => {
    const bare = { ...one, metadata: { ...one.metadata, finalizers: [] } };
    expect(decide(bare, inputs(), [])).toMatchObject({ finalizer: 'add', create: planned(one) });
    expect(decide(one, inputs(), [])).toMatchObject({ finalizer: 'keep', create: planned(one) });
  });

  it('has nothing left to do once its decision is carried out', () => {
    const artifacts = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { maxLength: 6 });
    fc.assert(
      fc.property(artifacts, artifacts, fc.boolean(), (before, after, finished) => {
        const old = planned(order(before.map((name) => ({ ...image(name) }))));
        const existing = old.map((workflow) => stored(workflow, finished ? done : {}));
        const wanted = order(after.map((name) => ({ ...image(name) })));
        const decision = decide(wanted, inputs(), existing);
        const gone = new Set(names([...decision.stop, ...decision.remove]));
        const created = decision.create.map((workflow) => stored(workflow));
        const marked = new Set(names(decision.superseded.map(({ workflow }) => workflow)));
        const next = [
          ...existing
            .filter(({ metadata }) => !gone.has(metadata.name))
            .map((one) => (marked.has(one.metadata.name) ? superseded(one) : one)),
          ...created,
        ];
        expect(decide(wanted, inputs(), next)).toEqual({
          finalizer: 'keep',
          create: [],
          stop: [],
          remove: [],
          superseded: [],
          patches: [],
        });
      }),
    );
  });

  const old = first(one, turned(1));
  const fresh = first(one, turned(2));
  const table: Array<[OnChange, string, ArtifactWorkflow['status'], string[], string[]]> = [
    ['Rerun', 'unfinished', {}, names([fresh]), names([old])],
    ['Rerun', 'succeeded', done, names([fresh]), []],
    ['Rerun', 'failed', broken, names([fresh]), []],
    ['RerunUnfinished', 'unfinished', {}, names([fresh]), names([old])],
    ['RerunUnfinished', 'succeeded', done, [], []],
    ['RerunUnfinished', 'failed', broken, names([fresh]), []],
    ['Keep', 'rendered', { configSecret: { name: 'rendered' } }, [], []],
    // The Endpoint that it was made for is gone for good: nothing could render it any more.
    ['Keep', 'not yet rendered', {}, names([fresh]), names([old])],
    ['Keep', 'succeeded', done, [], []],
    ['Keep', 'failed', broken, [], []],
  ];

  it.each(table)(
    'on a changed credential with %s and the old one %s',
    (onChange, _, status, create, stop) => {
      const wanted = order([image('a')], { onChange });
      const decision = decide(wanted, turned(2), [stored(old, status)]);
      expect(names(decision.create)).toEqual(create);
      expect(names(decision.stop)).toEqual(stop);
      expect(decision.remove).toEqual([]);
    },
  );

  it('obeys a force whatever onChange says', () => {
    const kept = order([image('a')], { onChange: 'Keep' });
    const forced = {
      ...kept,
      metadata: { ...kept.metadata, annotations: { [annotations.forceAt]: '1700000000' } },
    };
    expect(decide(forced, inputs(), [stored(old, done)]).create).toHaveLength(1);
  });

  it('leaves the versions of an artifact alone while its Endpoint is being looked at', () => {
    const from = { ...endpoint('from'), status: {} };
    const decision = decide(one, inputs({ endpoints: [from, endpoint('to')] }), [stored(first(one), {})]);
    expect(decision).toMatchObject({ create: [], stop: [], remove: [] });
  });

  it('stops what the Order no longer lists', () => {
    const both = planned(order([image('a'), image('b')])).map((workflow) => stored(workflow));
    expect(names(decide(one, inputs(), both).stop)).toEqual(names(both.slice(1)));
  });

  it('keeps three finished versions beside the one in force, the newest', () => {
    const versions = [1, 2, 3, 4, 5].map((count) => stored(first(one, turned(count)), done, count * 1000));
    const decision = decide(one, turned(6), [...versions].reverse());
    expect(names(decision.create)).toEqual(names([first(one, turned(6))]));
    expect(names(decision.remove).sort()).toEqual(names(versions.slice(0, 2)).sort());
  });

  it('does not make again what was removed after it had finished, and makes again what had not', () => {
    const child = stored(first(one), done);
    const seen = { ...one, status: rollUp(one, planOrder(one, inputs()), [child], now) };
    expect(decide(seen, inputs(), []).create).toEqual([]);
    const running = { ...one, status: rollUp(one, planOrder(one, inputs()), [stored(first(one))], now) };
    expect(decide(running, inputs(), []).create).toHaveLength(1);
  });

  it('does not create beside one that is being deleted', () => {
    const child = stored(first(one));
    const going = { ...child, metadata: { ...child.metadata, deletionTimestamp: now.toISOString() } };
    expect(decide(one, inputs(), [going])).toMatchObject({ create: [], stop: [] });
  });

  it('keeps the policy in step, removing what is no longer set', () => {
    const child = stored(first(order([image('a')], { retry: { limit: 2, backoff: '1s' }, suspend: true })));
    const [change] = decide(order([image('a')], { retry: { limit: 5 } }), inputs(), [child]).patches;
    expect(change?.patch).toEqual({ spec: { retry: { limit: 5, backoff: null }, suspend: null } });
  });

  it('runs again only what had failed by then', () => {
    const two = order([image('a'), image('b')]);
    const at = (seconds: number) => ({
      ...two,
      metadata: { ...two.metadata, annotations: { [annotations.retryAt]: String(seconds) } },
    });
    const [a, b] = planned(two);
    if (!a || !b) throw new Error('two are planned');
    const children = [stored(a, broken), stored(b, done)];
    const failedAt = Date.parse(broken.completionTime ?? '') / 1000;
    expect(decide(at(failedAt + 60), inputs(), children).patches.map(({ patch }) => patch)).toEqual([
      {
        metadata: {
          annotations: {
            [annotations.retryAt]: String(failedAt + 60),
            [annotations.cause]: 'retry-at was set',
          },
        },
      },
    ]);
    expect(decide(at(failedAt - 60), inputs(), children).patches).toEqual([]);
    // What has expired is made for it.
    const expired = { ...at(failedAt + 60), status: rollUp(two, planOrder(two, inputs()), children, now) };
    expect(decide(expired, inputs(), []).create.map(({ metadata }) => metadata.annotations)).toMatchObject([
      { [annotations.retryAt]: String(failedAt + 60), [annotations.cause]: 'retry-at was set' },
    ]);
  });

  describe('when an artifact is edited to and fro', () => {
    const override = 'mirror/app:stable';
    const at = (tag: string, more: Partial<Order['spec']> = {}) =>
      order([{ ...image('app'), spec: { image: `team/app:${tag}`, override } }], more);
    const nameless = (tag: string) => order([{ type: 'oci', spec: { image: `team/app:${tag}`, override } }]);
    const revised = (workflow: ArtifactWorkflow, revision: number, status = done) =>
      stored({ ...workflow, spec: { ...workflow.spec, revision } }, status);

    it.each([
      ['named', at],
      ['unnamed', nameless],
    ])('runs the version again that an %s artifact returns to', (_, of) => {
      const [old, newer] = [revised(first(of('1.0')), 1), revised(first(of('2.0')), 2)];
      const back = decide(of('1.0'), inputs(), [old, newer]);
      // The name has to be free first; the version after it stays for as long, as the trace of what came after.
      expect(back).toMatchObject({ create: [], stop: [old], remove: [] });
      const next = decide(of('1.0'), inputs(), [newer]);
      expect(next.create.map(({ spec }) => spec.revision)).toEqual([3]);
      expect(names(next.create)).toEqual(names([old]));
    });

    it('says Pending of it until it has run again, whatever it says of its first run', () => {
      const [old, newer] = [revised(first(at('1.0')), 1), revised(first(at('2.0')), 2)];
      for (const children of [[old, newer], [newer]]) {
        const status = rollUp(at('1.0'), planOrder(at('1.0'), inputs()), children, now);
        expect(status).toMatchObject({ phase: 'Pending', counts: { pending: 1, succeeded: 0 } });
      }
    });

    it('does not believe what the status remembers of a version that another one followed', () => {
      const recorded = { artifactIndex: 0, phase: 'Succeeded', completionTime: done.completionTime ?? '' };
      const key = first(at('1.0')).metadata.name.slice(-16);
      const of = { ...at('1.0'), status: { artifactWorkflows: { [key]: recorded } } };
      expect(decide(of, inputs(), []).create).toEqual([]);
      const followed = decide(of, inputs(), [revised(first(at('2.0')), 2)]);
      expect(followed.create.map(({ spec }) => spec.revision)).toEqual([3]);
      const latest = { ...of, status: { artifactWorkflows: { [key]: { ...recorded, revision: 3 } } } };
      expect(decide(latest, inputs(), [revised(first(at('2.0')), 2)]).create).toEqual([]);
    });

    it('stops the unfinished version in the decision that makes the next one, and creates first', () => {
      const running = revised(first(at('1.0')), 1, { phase: 'Running' });
      const decision = decide(at('2.0'), inputs(), [running]);
      expect(decision.create.map(({ spec }) => spec.revision)).toEqual([2]);
      expect(decision.stop).toEqual([running]);
    });

    it('says once of each earlier version that it is superseded, whether it stays or stops', () => {
      const old = revised(first(at('1.0')), 1);
      const running = revised(first(at('2.0')), 2, { phase: 'Running' });
      const told = (existing: ArtifactWorkflow[]) =>
        decide(at('3.0'), inputs(), existing).superseded.map(({ workflow, revision, stays }) => [
          workflow.spec.revision,
          revision,
          stays,
        ]);
      expect(told([old, running])).toEqual([
        [2, 3, false],
        [1, 3, true],
      ]);
      const inForce = revised(first(at('3.0')), 3);
      expect(told([superseded(old), inForce])).toEqual([]);
      expect(told([inForce])).toEqual([]);
    });

    it('keeps as many finished versions as the Order says, and none of an artifact that is no longer in it', () => {
      const versions = [1, 2, 3, 4, 5].map((n) => revised(first(at(`${n}.0`)), n));
      const kept = (of: Order) => {
        const gone = new Set(names(decide(of, inputs(), versions).remove));
        return versions.filter(({ metadata }) => !gone.has(metadata.name)).map(({ spec }) => spec.revision);
      };
      expect(kept(at('5.0'))).toEqual([2, 3, 4, 5]);
      expect(kept(at('5.0', { revisionHistoryLimit: 1 }))).toEqual([4, 5]);
      expect(kept(at('5.0', { revisionHistoryLimit: 0 }))).toEqual([5]);
      expect(kept(order([]))).toEqual([]);
    });
  });
});

describe('after an upgrade from a release that compared places by their text', () => {
  /** As an earlier release labelled it, which hashed the URL and the name as they were written. */
  function former(one: ArtifactWorkflow, name: string): ArtifactWorkflow {
    const target = shortHash(['https://to.example.com', name]);
    return {
      ...one,
      metadata: { ...one.metadata, labels: { ...one.metadata.labels, [labels.target]: target } },
    };
  }
  const unnamed = (tag: string, more = {}) => order([{ type: 'oci', spec: { image: `app${tag}`, ...more } }]);
  const labelOf = (of: Order) => first(of).metadata.labels?.[labels.target];

  it.each([
    ['named', order([{ name: 'a', type: 'oci', spec: { image: 'app' } }])],
    ['unnamed', unnamed('')],
  ])('runs nothing again: %s', (_, of) => {
    for (const status of [done, broken, { phase: 'Running' as const }]) {
      const decision = decide(of, inputs(), [former(stored(first(of), status), 'app')]);
      expect(decision).toMatchObject({ create: [], stop: [], remove: [], superseded: [] });
    }
  });

  it.each([
    ['named', { name: 'a' }, { name: 'b' }],
    ['unnamed', {}, {}],
  ])('runs neither of two artifacts again that had been put into one place: %s', (_, one, other) => {
    const both = order([
      { ...one, type: 'oci', spec: { image: 'app' } },
      { ...other, type: 'oci', spec: { image: 'app:latest' } },
    ]);
    const alone = both.spec.artifacts?.map((artifact) => first(order([artifact]))) ?? [];
    const entries = alone.map((each, artifactIndex) => [keyOf(each), { artifactIndex, phase: 'Running' }]);
    const known = { ...both, status: { artifactWorkflows: Object.fromEntries(entries) } };
    for (const status of [done, broken, { phase: 'Running' as const }]) {
      const existing = alone.map((each, index) => {
        const made = stored({ ...each, spec: { ...each.spec, revision: 1 } }, status, index);
        return former(made, index === 0 ? 'app' : 'app:latest');
      });
      for (const children of [existing, existing.toReversed()])
        expect(decide(known, inputs(), children)).toMatchObject({
          create: [],
          stop: [],
          remove: [],
          superseded: [],
        });
    }
  });

  it('gives what may still write the label of today, once', () => {
    const of = unnamed('');
    const patch = { metadata: { labels: { [labels.target]: labelOf(of) } } };
    const decision = (status: ArtifactWorkflow['status'], retry = of) =>
      decide(retry, inputs(), [former(stored(first(of), status), 'app')]).patches.map((one) => one.patch);
    expect(decision({ phase: 'Running' })).toEqual([patch]);
    expect(decision(done)).toEqual([]);
    expect(decision(broken)).toEqual([]);
    const retryAt = String(Math.floor(now.getTime() / 1000));
    const retry = { ...of, metadata: { ...of.metadata, annotations: { [annotations.retryAt]: retryAt } } };
    expect(decision(broken, retry)).toMatchObject([patch]);
    expect(decide(of, inputs(), [stored(first(of), { phase: 'Running' })]).patches).toEqual([]);
  });

  it('finds the earlier versions of an artifact without a name after an edit', () => {
    const done_ = stored(first(unnamed('')), done);
    const before = former({ ...done_, spec: { ...done_.spec, revision: 1 } }, 'app');
    const [made] = decide(unnamed('', { platforms: ['linux/amd64'] }), inputs(), [before]).create;
    expect(made?.spec.revision).toBe(2);
  });

  it('does not take a version for that of another artifact, whose place is called so now', () => {
    const tags = { type: 'oci', spec: { image: 'app', tags: { match: '*' } } };
    const both = order([{ type: 'oci', spec: { image: 'app' } }, tags]);
    const [one, several] = planned(both);
    if (!one || !several) throw new Error('nothing planned');
    expect(several.metadata.labels?.[labels.target]).toBe(
      former(one, 'app').metadata.labels?.[labels.target],
    );
    const decision = decide(both, inputs(), [stored(several, done)]);
    expect([names(decision.create), decision.create[0]?.spec.revision]).toEqual([names([one]), 1]);
    expect(decision).toMatchObject({ stop: [], remove: [], superseded: [] });
  });
});

describe('decideDeletion', () => {
  const going = { ...one, metadata: { ...one.metadata, deletionTimestamp: now.toISOString() } };
  const child = stored(first(one), done);

  it('stops everything when the Order goes, and lets it go when nothing is left, without a plan', () => {
    expect(decideDeletion(going, [child])).toEqual({ stop: [child], letGo: false });
    expect(decideDeletion(going, [])).toEqual({ stop: [], letGo: true });
    const stopping = { ...child, metadata: { ...child.metadata, deletionTimestamp: now.toISOString() } };
    expect(decideDeletion(going, [stopping])).toEqual({ stop: [], letGo: false });
    expect(going.metadata.finalizers).toContain(finalizers.children);
  });

  it('leaves everything alone when the Order is deleted with propagationPolicy Orphan', () => {
    const metadata = { ...going.metadata, finalizers: [...(going.metadata.finalizers ?? []), 'orphan'] };
    expect(decideDeletion({ ...going, metadata }, [child])).toEqual({ stop: [], letGo: true });
  });
});
