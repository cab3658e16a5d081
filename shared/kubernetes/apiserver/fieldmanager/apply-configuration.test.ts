import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { fc } from '#shared/base/testing';
import type { KubeObject } from '../kinds/definition.ts';
import { aWidget, sampleWriter } from '../testing/sample-widget.ts';
import { type Applied, applyConfiguration } from './apply-configuration.ts';
import { trackUpdate } from './track-update.ts';

/** All steps of an apply, one after the other. */
function result(steps: Generator<void, Applied>): Applied {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}

function apply(manager: string, live: KubeObject | undefined, spec: object, force = false): KubeObject {
  const { object, managedFields } = result(
    applyConfiguration(sampleWriter(manager), live, aWidget(spec), force),
  );
  return { ...object, metadata: { ...object.metadata, managedFields } };
}

interface Entry {
  manager: string;
  fieldsV1: Record<string, object>;
}

const entriesOf = (object: KubeObject) => (object.metadata.managedFields ?? []) as Entry[];
const fieldsOf = (object: KubeObject, manager: string) =>
  entriesOf(object).find((entry) => entry.manager === manager)?.fieldsV1['f:spec'];

describe('applyConfiguration', () => {
  it('gives untracked fields an owner', () => {
    const object = apply('m', aWidget({ size: 1 }), { color: 'a' });
    expect(entriesOf(object).map(({ manager }) => manager)).toEqual(['m', 'before-first-apply']);
    expect(object.spec).toEqual({ size: 1, color: 'a' });
  });

  it('refuses fields that the schema does not know', () => {
    expect(() => apply('m', undefined, { bogus: 1 })).toThrow(
      'failed to create typed patch object (ns/one; test.example.com/v1, Kind=Widget): .spec.bogus: field not declared in schema',
    );
  });

  it("lets kubectl take over what its own client-side apply left, and nobody else's", () => {
    const note = 'kubectl.kubernetes.io/last-applied-configuration';
    const annotations = { [note]: JSON.stringify(aWidget({ size: 1 })) };
    const made = aWidget({ size: 1, color: 'a' }, { annotations });
    const managedFields = trackUpdate(sampleWriter('kubectl-client-side-apply'), undefined, made, undefined);
    const live = { ...made, metadata: { ...made.metadata, managedFields } };
    const taken = apply('kubectl', live, { size: 2 });
    expect(taken.spec).toEqual({ size: 2, color: 'a' });
    expect(JSON.parse(taken.metadata.annotations?.[note] ?? '').spec).toEqual({ size: 2 });
    expect(() => apply('kubectl', live, { color: 'b' })).toThrow('.spec.color');
    expect(() => apply('other', live, { size: 2 })).toThrow('.spec.size');
  });
});

const word = fc.constantFrom('x', 'y', 'z');
const names = fc.uniqueArray(fc.constantFrom('a', 'b', 'c'));
const part = fc.record({ url: word, tags: names }, { requiredKeys: [] });
const spec = fc.record(
  {
    color: word,
    size: fc.nat(3),
    tags: names,
    plain: fc.array(word, { maxLength: 2 }),
    map: fc.dictionary(word, word),
    parts: fc
      .tuple(names, fc.array(part, { minLength: 3, maxLength: 3 }))
      .map(([list, parts]) => list.map((name, index) => ({ name, ...parts[index] }))),
    free: fc.dictionary(word, fc.oneof(word, fc.dictionary(word, word))),
  },
  { requiredKeys: [] },
);

describe('apply', () => {
  it('is idempotent', () => {
    fc.assert(
      fc.property(spec, spec, (before, config) => {
        const once = apply('m1', apply('m0', undefined, before), config, true);
        expect(apply('m1', once, config)).toEqual(once);
      }),
    );
  });

  it('of different fields by two managers is commutative', () => {
    const first = fc.record(
      { color: word, plain: fc.array(word), map: fc.record({ a: word }) },
      { requiredKeys: [] },
    );
    const second = fc.record(
      { size: fc.nat(3), amap: fc.dictionary(word, word), map: fc.record({ b: word }) },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(first, second, (one, two) => {
        const ab = apply('m2', apply('m1', undefined, one), two);
        const ba = apply('m1', apply('m2', undefined, two), one);
        expect(ab.spec).toEqual(ba.spec);
        expect(fieldsOf(ab, 'm1')).toEqual(fieldsOf(ba, 'm1'));
        expect(fieldsOf(ab, 'm2')).toEqual(fieldsOf(ba, 'm2'));
      }),
    );
  });

  it('with force applies the configuration, and removes ownership of changed fields from others', () => {
    fc.assert(
      fc.property(spec, spec, (before, config) => {
        const forced = apply('m2', apply('m1', undefined, before), config, true);
        // Whoever applies what the object now says of its own fields finds no conflict.
        expect(() => apply('m3', forced, config)).not.toThrow();
        if (config.color !== undefined) {
          expect((forced.spec as { color: string }).color).toBe(config.color);
          const kept = fieldsOf(forced, 'm1') ?? {};
          expect(Object.hasOwn(kept, 'f:color')).toBe(before.color === config.color);
        }
      }),
    );
  });

  it('without force either changes nothing of others or is refused', () => {
    fc.assert(
      fc.property(spec, spec, (before, config) => {
        const live = apply('m1', undefined, before);
        try {
          const after = apply('m2', live, config);
          expect(fieldsOf(after, 'm1')).toEqual(fieldsOf(live, 'm1'));
        } catch (caught) {
          if (!ArcError.is(caught, 'Conflict')) throw caught;
        }
      }),
    );
  });

  it('of an empty configuration removes all fields without other owners', () => {
    fc.assert(
      fc.property(spec, spec, (mine, others) => {
        const alone = apply('m2', undefined, others);
        const left = apply('m1', apply('m1', alone, mine, true), {});
        expect(entriesOf(left).some(({ manager }) => manager === 'm1')).toBe(false);
        const again = apply('m1', apply('m1', undefined, mine), {});
        expect(again.spec ?? {}).toEqual({});
      }),
    );
  });
});

interface Operation {
  op: 'apply' | 'put';
  manager: string;
  force: boolean;
  subresource: string;
  object: KubeObject;
}

type Result = { error: string; fields: string[] } | { object: KubeObject };

/** What the Go implementation (k8s.io/apimachinery 0.34, managedfields) has made of random sequences of writes. */
const recorded = readFileSync(new URL('./recorded-sequences.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as [Operation, Result][]);

function run(operation: Operation, live: KubeObject | undefined): KubeObject {
  const { manager, subresource, object, op, force } = operation;
  const writer = sampleWriter(manager, { subresource });
  const { managedFields: supplied, ...metadata } = object.metadata;
  const sent = { ...object, metadata };
  const { object: next, managedFields }: Applied =
    op === 'apply'
      ? result(applyConfiguration(writer, live, object, force))
      : { object: sent, managedFields: trackUpdate(writer, live, sent, supplied) };
  const base: KubeObject = subresource === 'status' && live ? live : next;
  const { status: _status, ...rest } = base;
  const { status }: Partial<KubeObject> = subresource === 'status' ? next : (live ?? {});
  const { managedFields: _former, ...kept } = base.metadata;
  return {
    ...rest,
    metadata: { ...kept, uid: 'u', ...(managedFields && { managedFields }) },
    ...(status !== undefined && { status }),
  } as KubeObject;
}

/** Go walks maps in random order, which shows in the order of faults and of conflicting managers. */
function unordered(result: Result): unknown {
  if (!('error' in result)) return result;
  return { error: result.error.split('\n').sort(), fields: result.fields.toSorted() };
}

describe('sequences recorded from Go', () => {
  it.each(recorded.map((sequence, index) => [index, sequence] as const))(
    'number %i comes out the same',
    (_index, sequence) => {
      let live: KubeObject | undefined;
      for (const [operation, expected] of sequence) {
        let result: Result;
        try {
          live = run(operation, live);
          result = { object: live };
        } catch (caught) {
          const error = ArcError.from(caught);
          result = {
            error: error.message,
            fields: error.details?.causes?.map(({ field }) => field ?? '') ?? [],
          };
        }
        expect(unordered(result)).toEqual(unordered(expected));
      }
    },
  );
});
