import { describe, expect, it } from 'vitest';
import type { Artifact } from '../kinds/order.ts';
import { labels } from '../kinds/well-known.ts';
import { planOrder } from '../plan/plan.ts';
import { image, inputs, made, order, stored } from '../testing/plan-objects.ts';
import {
  artifactIdentifier,
  artifactIdOf,
  childSelector,
  compareAge,
  endpointsUsed,
  identityFields,
  keyOf,
  policyFields,
  versionKey,
  versionSelector,
  versionsById,
  withDefaults,
} from './artifact.ts';

const daily = { schedules: ['@daily'] };
const weekly = { schedules: ['@weekly'] };

describe('an artifact', () => {
  it('takes from the Order what it does not set itself', () => {
    const of = order([], { defaults: { srcRef: { name: 'from' }, dstRef: { name: 'to' }, cron: weekly } });
    const expected = { type: 'oci', source: 'from', destination: 'to', cron: weekly };
    expect(withDefaults(of, image('a'))).toMatchObject(expected);
    const own = { ...image('a'), srcRef: { name: 'x' }, dstRef: { name: 'y' }, cron: daily };
    expect(withDefaults(of, own)).toMatchObject({ source: 'x', destination: 'y', cron: daily });
    expect(withDefaults(order([], { defaults: {} }), { type: 'oci' })).toEqual({ type: 'oci', spec: {} });
    expect(endpointsUsed({ ...of, spec: { ...of.spec, artifacts: [own, image('a')] } })).toEqual([
      'from',
      'to',
      'x',
      'y',
    ]);
  });
});

describe('the id of an artifact', () => {
  const ids = (...artifacts: Artifact[]) => artifacts.map(artifactIdentifier(order(artifacts)));

  it('is that of another with the same type, Endpoints and spec, whatever its name and schedule', () => {
    const [one, two] = ids(image('a'), { ...image('a'), name: 'b' });
    expect(one).toMatch(/^[0-9a-f]{16}$/);
    expect(two).toBe(one);
    expect(ids({ ...image('a'), cron: daily })).toEqual([one]);
  });

  it.each<[string, Partial<Artifact>]>([
    ['type', { type: 'helm' }],
    ['source', { srcRef: { name: 'elsewhere' } }],
    ['destination', { dstRef: { name: 'elsewhere' } }],
    ['spec', { spec: { image: 'a:2.0' } }],
  ])('differs with the %s', (_, more) => {
    const [one, two] = ids(image('a'), { ...image('a'), ...more });
    expect(two).not.toBe(one);
  });

  it('differs between Orders, also between two of one name', () => {
    const later = order([image('a')]);
    later.metadata.uid = 'later';
    expect(artifactIdentifier(later)(image('a'))).not.toBe(ids(image('a'))[0]);
  });

  it('holds the schedule only where the Order moves the same thing on two', () => {
    const [first, second, again] = ids(
      { ...image('a'), cron: daily },
      { ...image('a'), cron: weekly },
      { ...image('a'), cron: daily },
    );
    expect(second).not.toBe(first);
    expect(again).toBe(first);
  });
});

describe('the key of a version', () => {
  const of = order([image('a')]);
  const base = {
    order: of,
    artifact: withDefaults(of, image('a')),
    template: { name: 't' },
    parameters: [],
    source: ['from', 1],
    destination: ['to', 1],
    forceAt: 0,
  };

  it.each([
    ['template', { template: { name: 'u' } }],
    ["type's parameters", { parameters: [{ name: 'a', value: 'b' }] }],
    ['source', { source: ['from', 2] }],
    ['destination', { destination: ['to', 2] }],
    ['force time', { forceAt: 5 }],
    ['schedule', { artifact: { ...base.artifact, cron: daily } }],
    ['spec', { artifact: { ...base.artifact, spec: { image: 'a:2.0' } } }],
  ])('differs with the %s', (_, more) => {
    expect(versionKey({ ...base, ...more })).toMatch(/^[0-9a-f]{16}$/);
    expect(versionKey({ ...base, ...more })).not.toBe(versionKey(base));
  });

  it('ends the name of the ArtifactWorkflow; one made by hand has its name for a key', () => {
    const [planned] = planOrder(of, inputs()).artifacts;
    expect(planned && keyOf(made(of))).toBe(planned?.key);
    expect(keyOf({ metadata: { name: 'by-hand' } })).toBe('by-hand');
  });
});

describe('versions', () => {
  const of = order([image('a')]);
  const [planned] = planOrder(of, inputs()).artifacts;
  const workflow = made(of);

  it('carry the id of their artifact and the uid of their Order', () => {
    expect(artifactIdOf(workflow)).toBe(planned?.id);
    expect(childSelector(of)).toBe(`${labels.order}=order-uid`);
    expect(versionSelector(workflow)).toBe(`${labels.artifact}=${planned?.id},${labels.order}=order-uid`);
    const { labels: _, ...metadata } = workflow.metadata;
    expect(versionSelector({ ...workflow, metadata })).toBeUndefined();
    expect(artifactIdOf({ metadata })).toBeUndefined();
  });

  it('stand by artifact, newest first, ties by name', () => {
    const version = (name: string, created: number) =>
      stored({ ...workflow, metadata: { ...workflow.metadata, name } }, {}, created);
    const byHand = { ...version('by-hand', 0), metadata: { name: 'by-hand' } };
    const byId = versionsById([version('b', 1_000), version('c', 2_000), version('a', 1_000), byHand]);
    expect(byId.get(planned?.id ?? '')?.map(({ metadata }) => metadata.name)).toEqual(['c', 'b', 'a']);
    expect(byId.get('')).toEqual([byHand]);
    expect(compareAge(version('a', 1_000), version('b', 1_000))).toBeLessThan(0);
    expect(compareAge(version('a', 1_000), version('a', 1_000))).toBe(0);
  });

  it('differ in their identity; their policy can change', () => {
    expect(identityFields).toContain('parameters');
    expect(policyFields).toEqual(['ttlAfterFinished', 'ttlAfterFailed', 'retry', 'queueName', 'suspend']);
  });
});
