import { describe, expect, it } from 'vitest';
import type { Artifact } from '../kinds/order.ts';
import { labels } from '../kinds/well-known.ts';
import { planOrder } from '../plan/plan.ts';
import { image, inputs, made, order, stored } from '../testing/plan-objects.ts';
import {
  artifactId,
  artifactIdOf,
  childSelector,
  compareAge,
  conflictSelectors,
  contentOf,
  endpointsUsed,
  identityFields,
  keyOf,
  likenessOf,
  policyFields,
  versionKey,
  versionsAmong,
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

/**
 * What each field of an artifact decides. The compiler asks for a new field: one that makes another transfer has to be in `contentOf`,
 * `likenessOf` and `versionKey`, and one that is added to them renames, and so runs again, every artifact that sets it.
 */
const decides = {
  name: 'which artifact it is',
  type: 'the transfer',
  srcRef: 'the transfer',
  dstRef: 'the transfer',
  spec: 'the transfer',
  cron: 'when it runs',
  cancel: 'whether it runs',
} satisfies Record<keyof Artifact, string>;

describe('the fields of an artifact', () => {
  const other: Required<Artifact> = {
    name: 'b',
    type: 'helm',
    srcRef: { name: 'x' },
    dstRef: { name: 'y' },
    spec: { image: 'b:1' },
    cron: daily,
    cancel: true,
  };
  const fields = Object.keys(decides) as (keyof Artifact)[];
  it.each(fields)('%s counts in its hashes as it is meant to', (field) => {
    const [one, two] = [image('a'), { ...image('a'), [field]: other[field] }];
    const of = order([]);
    const isTransfer = decides[field] === 'the transfer';
    expect(contentOf(of, two) !== contentOf(of, one)).toBe(isTransfer);
    expect(likenessOf(of, two) !== likenessOf(of, one)).toBe(isTransfer || field === 'cron');
  });
});

describe('the hashes of an artifact', () => {
  // Another hash renames, and so runs again, every artifact of an installation that is updated.
  it('are those of earlier releases', () => {
    const { name: _, ...unnamed } = image('a');
    expect(artifactId(order([]), image('a'))).toBe('f64219ca4864c36b');
    expect(contentOf(order([]), image('a'))).toBe('d07ae39c8d8b569c');
    expect(artifactId(order([]), unnamed)).toBe('d07ae39c8d8b569c');
  });
});

describe('the id of an artifact', () => {
  const ids = (...artifacts: Artifact[]) => artifacts.map((one) => artifactId(order(artifacts), one));

  it('is made of the name, which an edit keeps, or of type, Endpoints and spec where there is none', () => {
    const [one, two] = ids(image('a'), { ...image('a'), name: 'b' });
    expect(one).toMatch(/^[0-9a-f]{16}$/);
    expect(ids({ ...image('a'), cron: daily })).toEqual([one]);
    expect(two).not.toBe(one);
    expect(ids({ ...image('c'), name: 'b' })).toEqual([two]);
  });

  it('does not matter for artifacts that ask for the same: they are alike whatever their names', () => {
    const like = (one: Artifact) => likenessOf(order([]), one);
    expect(like({ ...image('a'), name: 'b' })).toBe(like(image('a')));
    expect(like({ ...image('a'), cron: daily })).not.toBe(like(image('a')));
  });

  it.each<[string, Partial<Artifact>]>([
    ['type', { type: 'helm' }],
    ['source', { srcRef: { name: 'elsewhere' } }],
    ['destination', { dstRef: { name: 'elsewhere' } }],
    ['spec', { spec: { image: 'a:2.0' } }],
  ])('differs with the %s where there is no name', (_what, more) => {
    const { name: _, ...unnamed } = image('a');
    const [one, two] = ids(unnamed, { ...unnamed, ...more });
    expect(two).not.toBe(one);
  });

  it('differs between Orders, also between two of one name', () => {
    const later = order([image('a')]);
    later.metadata.uid = 'later';
    expect(artifactId(later, image('a'))).not.toBe(ids(image('a'))[0]);
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
    policies: [] as string[],
    forceAt: 0,
    verified: false,
  };

  it.each([
    ['template', { template: { name: 'u' } }],
    ["type's parameters", { parameters: [{ name: 'a', value: 'b' }] }],
    ['source', { source: ['from', 2] }],
    ['destination', { destination: ['to', 2] }],
    ['policies that bind it', { policies: ['sha256:a'] }],
    ['force time', { forceAt: 5 }],
    ['schedule', { artifact: { ...base.artifact, cron: daily } }],
    ['wish to verify', { verified: true }],
    ['spec', { artifact: { ...base.artifact, spec: { image: 'a:2.0' } } }],
  ])('differs with the %s', (_, more) => {
    expect(versionKey({ ...base, ...more })).toMatch(/^[0-9a-f]{16}$/);
    expect(versionKey({ ...base, ...more })).not.toBe(versionKey(base));
  });

  it('stays what it was in earlier releases, so that an upgrade runs nothing again', () => {
    expect(versionKey(base)).toBe('5c0ed751b807b917');
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
    expect(conflictSelectors(workflow)).toEqual([
      `${labels.artifact}=${planned?.id},${labels.order}=order-uid`,
      `${labels.target}=${workflow.metadata.labels?.[labels.target]}`,
    ]);
    const { labels: _, ...metadata } = workflow.metadata;
    expect(conflictSelectors({ ...workflow, metadata })).toEqual([]);
    expect(artifactIdOf({ metadata })).toBeUndefined();
  });

  it('are those of one id, target or name, the one put in force last first', () => {
    const version = (name: string, revision: number, versionLabels: Record<string, string>) => {
      const { metadata, spec } = workflow;
      return stored({
        ...workflow,
        metadata: { ...metadata, name, labels: versionLabels },
        spec: { ...spec, revision },
      });
    };
    const all = [
      version('first', 1, { [labels.artifact]: 'id' }),
      version('third', 3, { [labels.target]: 'target' }),
      version('second', 2, { [labels.artifact]: 'id', [labels.target]: 'target' }),
      version('another', 4, { [labels.artifact]: 'other' }),
      version('wanted', 0, {}),
    ];
    const names = (keys: Parameters<ReturnType<typeof versionsAmong>>[0]) =>
      versionsAmong(all)(keys).map(({ metadata }) => metadata.name);
    expect(names({ id: 'id' })).toEqual(['second', 'first']);
    expect(names({ id: 'id', targets: ['target'], name: 'wanted' })).toEqual([
      'third',
      'second',
      'first',
      'wanted',
    ]);
    expect(compareAge(version('a', 1, {}), version('b', 1, {}))).toBeLessThan(0);
  });

  it('differ in their identity; their policy can change', () => {
    expect(identityFields).toContain('parameters');
    expect(policyFields).toEqual([
      'ttlAfterFinished',
      'ttlAfterFailed',
      'retry',
      'queueName',
      'limitedBy',
      'parallelism',
      'suspend',
      'cancel',
    ]);
  });
});
