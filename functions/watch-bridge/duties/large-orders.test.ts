import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { runs } from '#shared/base/testing';
import { type ArtifactWorkflow, annotations, finalizers, planOrder } from '#shared/domain';
import { FakeClock } from '../../../shared/base/async/testing/fake-clock.ts';
import { endpoint, ociTemplate, ociType, order } from '../../../shared/domain/testing/objects.ts';
import type { Observed } from '../view/kept.ts';
import { Lookup } from '../view/lookup.ts';
import { Dispatcher } from './dispatcher.ts';
import { changeOf } from './neighbours.ts';

const start = Date.parse('2026-01-02T03:00:00Z');
const none = { offer: () => undefined, forget: () => undefined };

/** Objects that the view has handed out, and artifacts of the spec that were read. */
let operations = 0;
beforeEach(() => {
  const get = Lookup.prototype.get;
  vi.spyOn(Lookup.prototype, 'get').mockImplementation(function (this: Lookup, key) {
    const found = get.call(this, key);
    operations += found.length;
    return found as never;
  });
});
afterEach(() => void vi.restoreAllMocks());

/** The smaller number of artifacts; the larger one is four times as many. */
const artifacts = runs(1) > 1 ? 400 : 200;

interface Story {
  parallelism?: number;
  maxInFlight?: number;
  /** The states of each ArtifactWorkflow, one after the other for all of them; `first`: one of the two that start at once. */
  states: (first: boolean) => readonly (Partial<ArtifactWorkflow> | undefined)[];
}

/** The operations of the bridge for one Order of so many artifacts, one change in each ms. */
function cost({ parallelism, maxInFlight, states }: Story, size: number): number {
  const clock = new FakeClock();
  const timeOfDay = { now: () => start + clock.now() };
  const dispatcher = new Dispatcher({ clock, timeOfDay, random: () => 0.5, outbox: none });
  const known = new Map<string, Observed>();
  let version = 0;
  const put = (object: object | undefined, { metadata }: Observed) => {
    version += 1;
    const one = object && { ...(object as Observed) };
    if (one) one.metadata = { ...one.metadata, resourceVersion: `${version}` };
    const kept = one && dispatcher.keep(one);
    const before = known.get(metadata.uid ?? '');
    if (kept) known.set(metadata.uid ?? '', kept);
    else known.delete(metadata.uid ?? '');
    const change = changeOf(before, kept);
    if (change) dispatcher.change(change);
    clock.advance(1);
  };
  const ends = [
    endpoint('source'),
    endpoint('destination', maxInFlight === undefined ? {} : { maxInFlight }),
  ];
  const images = Array.from({ length: size }, (_, at) => `team/app-${at}:1`);
  const plain = order('large', images, parallelism === undefined ? {} : { parallelism });
  const artifacts = new Proxy(plain.spec.artifacts ?? [], {
    get(target, key) {
      operations += typeof key === 'string' && /^\d+$/.test(key) ? 1 : 0;
      return Reflect.get(target, key);
    },
  });
  const held = {
    ...plain.metadata,
    finalizers: [finalizers.children],
    annotations: { [annotations.forceAt]: '0' },
  };
  const large = { ...plain, metadata: held, spec: { ...plain.spec, artifacts } };
  const all = [...ends, ociType(), ociTemplate(), large] as Observed[];
  for (const object of all) put(object, object);
  void dispatcher.synced();
  const made = planOrder(large, { endpoints: ends, types: [ociType()] }).artifacts.flatMap((one, at) => {
    if (one.state !== 'ready') return [];
    const { metadata } = one.workflow;
    const creationTimestamp = new Date(start).toISOString();
    return [{ ...one.workflow, metadata: { ...metadata, uid: `child-${at}`, creationTimestamp } }];
  });
  expect(made).toHaveLength(size);
  operations = 0;
  for (const step of states(false).keys())
    for (const [at, child] of made.entries()) {
      const state = states(at < 2)[step];
      const metadata = { ...child.metadata, ...state?.metadata };
      put(state && { ...child, ...state, metadata }, child as Observed);
    }
  dispatcher.close();
  return operations;
}

const configSecret = { name: 'rendered' };
const workflowRef = { kind: 'Workflow', name: 'run', attempt: 1 } as const;
const waiting = (waitReason: 'LimitReached' | 'NamespaceNotGiven') => ({
  status: { configSecret, waitReason, waitMessage: 'x' },
});
const running: Partial<ArtifactWorkflow> = {
  status: { configSecret, workflowRef, phase: 'Running', attempts: 1 },
};
const completionTime = '2026-01-02T03:00:01Z';
const done: Partial<ArtifactWorkflow> = {
  status: { workflowRef, phase: 'Succeeded', attempts: 1, syncedAttempt: 1, completionTime },
};
const lined = (first: boolean) => [
  {},
  { status: { configSecret } },
  first ? running : waiting('LimitReached'),
  running,
  done,
];

describe('the work of the bridge for one Order', () => {
  it.each<[string, Story]>([
    ['that runs', { states: () => [{}, { status: { configSecret } }, running, done] }],
    ['of which two run at a time', { parallelism: 2, states: lined }],
    ['to an Endpoint that takes two at a time', { maxInFlight: 2, states: lined }],
    [
      'in a namespace that was not given',
      { states: () => [{}, waiting('NamespaceNotGiven'), running, done] },
    ],
    ['that has ended, whose ArtifactWorkflows go one by one', { states: () => [done, undefined] }],
  ])('%s grows as its artifacts do', (_, story) => {
    const [small, large] = [cost(story, artifacts), cost(story, 4 * artifacts)];
    expect(large / small).toBeLessThan(6);
  });
});
