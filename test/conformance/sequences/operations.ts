import { fc } from '#shared/base/testing';

type Json = Record<string, unknown>;

/** One request about one object. `changes` are what a client wants of it, beside its name and revision. */
export interface Operation {
  kind: 'create' | 'apply' | 'update' | 'merge' | 'json' | 'forget' | 'delete';
  manager: string;
  subresource: '' | 'status';
  force: boolean;
  dryRun: boolean;
  changes: Changes;
}

export interface Changes {
  metadata: Json;
  spec?: unknown;
  status?: unknown;
}

const some = <Fields>(fields: { [Name in keyof Fields]: fc.Arbitrary<Fields[Name]> }) =>
  fc.record(fields, { requiredKeys: [] });
const oneOf = <Value>(...values: Value[]) => fc.constantFrom(...values);
const texts = fc.dictionary(oneOf('k', 'l', 'm'), oneOf('x', 'y'), { minKeys: 1, maxKeys: 3 });
const subset = (...values: string[]) => fc.shuffledSubarray(values, { minLength: 1 });
/** Mostly items that differ in their key; now and then not, which is a mistake. */
const items = <Item>(item: fc.Arbitrary<Item>, key: (item: Item) => unknown) =>
  fc.oneof(
    { weight: 30, arbitrary: fc.uniqueArray(item, { selector: key, minLength: 1, maxLength: 3 }) },
    { weight: 1, arbitrary: fc.array(item, { maxLength: 3 }) },
  );

const part = fc.record(
  {
    name: oneOf('a', 'b', 'c'),
    url: oneOf('u', 'v'),
    tags: subset('s', 't'),
    options: texts,
    mode: oneOf('auto', 'hand'),
  },
  { requiredKeys: ['name'] },
);
const port = fc.record(
  { port: oneOf(80, 443), protocol: oneOf('TCP', 'UDP'), host: oneOf('h', 'i') },
  { requiredKeys: ['port'] },
);
const free = fc.oneof(
  fc.constant({}),
  some({
    deep: some({
      one: fc.constantFrom<unknown>(1, 'x', true),
      two: fc.array(fc.constantFrom(1, 2), { maxLength: 2 }),
    }),
    list: fc.array(some({ name: oneOf('p', 'q') }), { maxLength: 2 }),
    text: oneOf('x', 'y'),
  }),
);

const spec = fc.oneof(
  {
    weight: 20,
    arbitrary: some({
      color: oneOf('red', 'green'),
      size: oneOf(0, 1, 2),
      flag: fc.boolean(),
      level: oneOf('low', 'high'),
      parts: items(part, ({ name }) => name),
      ports: items(port, ({ port: number, protocol = 'TCP' }) => `${number}/${protocol}`),
      tags: fc.oneof(
        { weight: 30, arbitrary: subset('s', 't', 'u') },
        { weight: 1, arbitrary: fc.constantFrom(['s', 's'], ['s', 't', 's', 's']) },
      ),
      numbers: fc.shuffledSubarray([1, 2, 3]),
      plain: fc.array(oneOf('x', 'y'), { maxLength: 3 }),
      atomic: texts,
      map: texts,
      free,
      objects: fc.dictionary(
        oneOf('k', 'l'),
        some({ type: oneOf('x', 'y'), list: fc.array(oneOf('x', 'y'), { maxLength: 2 }) }),
        { maxKeys: 2 },
      ),
      nested: some({ a: some({ b: oneOf('x', 'y'), c: oneOf(1, 2) }), d: some({ e: oneOf('x', 'y') }) }),
    }),
  },
  {
    weight: 1,
    arbitrary: oneOf<unknown>(
      {},
      null,
      { color: null },
      { bogus: 1 },
      { map: { k: null } },
      { map: {}, atomic: {}, tags: [], parts: [], plain: [] },
    ),
  },
);

const condition = fc.record(
  { type: oneOf('Ready', 'Stalled'), status: oneOf('True', 'False'), reason: oneOf('A', 'B') },
  { requiredKeys: ['type', 'status'] },
);
const status = some({
  phase: oneOf('Up', 'Down'),
  conditions: items(condition, ({ type }) => type),
  seen: subset('s', 't'),
});

const metadata = fc.oneof(
  { weight: 2, arbitrary: fc.constant({}) },
  {
    weight: 1,
    arbitrary: some({
      labels: texts,
      annotations: texts,
      finalizers: subset('example.com/a', 'example.com/b'),
      ownerReferences: fc
        .subarray(['u1', 'u2'], { minLength: 1 })
        .map((uids) => uids.map((uid) => ({ apiVersion: 'v1', kind: 'Secret', name: 's', uid }))),
    }),
  },
);

const changes: fc.Arbitrary<Changes> = fc.record({ metadata, spec, status }, { requiredKeys: ['metadata'] });

const operation: fc.Arbitrary<Operation> = fc.record({
  kind: fc.oneof(
    { weight: 12, arbitrary: fc.constant('apply' as const) },
    { weight: 4, arbitrary: fc.constant('update' as const) },
    { weight: 4, arbitrary: fc.constant('merge' as const) },
    { weight: 2, arbitrary: fc.constant('json' as const) },
    { weight: 2, arbitrary: fc.constant('create' as const) },
    { weight: 1, arbitrary: fc.constant('forget' as const) },
    { weight: 1, arbitrary: fc.constant('delete' as const) },
  ),
  manager: oneOf('one', 'two', 'three'),
  subresource: fc.oneof(
    { weight: 4, arbitrary: fc.constant('' as const) },
    { weight: 1, arbitrary: fc.constant('status' as const) },
  ),
  force: fc.boolean(),
  dryRun: fc.oneof(
    { weight: 12, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
  changes,
});

/** Operations on one object, one after another. */
export const sequences = fc.array(operation, { minLength: 1, maxLength: 12, size: 'max' });
