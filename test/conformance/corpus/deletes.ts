import { get, merge, order, orders, post, put, remove, root, type Scenario, type Step } from './scenario.ts';

const holding = (name: string, finalizers = ['example.com/hold']) => order({ name, finalizers });
const make = (name: string): Step =>
  post(orders(), order(name), { capture: { rv: 'metadata.resourceVersion', uid: 'metadata.uid' } });

/** What may be in the body of a DELETE of an object that is there. */
const options: [name: string, body: unknown][] = [
  ['background', { propagationPolicy: 'Background' }],
  ['foreground', { propagationPolicy: 'Foreground' }],
  ['orphan', { propagationPolicy: 'Orphan' }],
  ['policy', { propagationPolicy: 'Odd' }],
  ['dependents', { orphanDependents: true }],
  ['no-dependents', { orphanDependents: false }],
  ['both', { orphanDependents: true, propagationPolicy: 'Orphan' }],
  ['grace', { gracePeriodSeconds: 30 }],
  ['grace-negative', { gracePeriodSeconds: -1 }],
  ['uid', { preconditions: { uid: 'other' } }],
  ['version', { preconditions: { resourceVersion: '1' } }],
  ['uid-and-version', { preconditions: { uid: '@{uid}', resourceVersion: '@{rv}' } }],
  ['kind', { kind: 'DeleteOptions', apiVersion: 'v1' }],
  ['meta-kind', { kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' }],
  ['group-kind', { kind: 'DeleteOptions', apiVersion: '@{group}/v1alpha1' }],
  ['odd-group', { kind: 'DeleteOptions', apiVersion: 'example.com/v1' }],
  ['dry', { dryRun: ['All'] }],
  ['odd-dry', { dryRun: ['Odd'] }],
  ['dependents-type', { orphanDependents: 'true' }],
  ['grace-type', { gracePeriodSeconds: '0' }],
  ['policy-type', { propagationPolicy: 5 }],
  ['dry-type', { dryRun: true }],
  ['preconditions-type', { preconditions: { uid: 5 } }],
  ['unknown', { bogus: 1 }],
  ['empty', {}],
  ['broken-body', '{'],
];

const queries = [
  'propagationPolicy=Foreground',
  'propagationPolicy=Odd',
  'orphanDependents=true',
  'orphanDependents=true&propagationPolicy=Orphan',
  'gracePeriodSeconds=0',
  'gracePeriodSeconds=x',
  'dryRun=All',
  'dryRun=Odd',
];

export const deletes: Scenario[] = [
  {
    name: 'deletes: plain',
    steps: [
      make('one'),
      remove(orders('one')),
      remove(orders('one')),
      get(orders('one')),
      remove(orders('absent')),
      remove(`${root}/namespaces/nowhere/orders/one`),
    ],
  },
  {
    name: 'deletes: options',
    steps: options.flatMap(([name, body]) => [make(name), { ...remove(orders(name), body), name }]),
  },
  {
    name: 'deletes: query',
    steps: queries.flatMap((query, index) => [make(`q${index}`), remove(`${orders(`q${index}`)}?${query}`)]),
  },
  {
    name: 'deletes: finalizers',
    steps: [
      post(orders(), holding('held')),
      remove(orders('held'), undefined, { capture: { rv: 'metadata.resourceVersion' } }),
      remove(orders('held')),
      remove(orders('held'), { propagationPolicy: 'Foreground' }),
      remove(orders('held'), { propagationPolicy: 'Background' }),
      remove(orders('held'), { propagationPolicy: 'Orphan' }),
      remove(orders('held'), { propagationPolicy: 'Background' }),
      remove(orders('held'), { preconditions: { uid: 'other' } }),
      remove(`${orders('held')}?dryRun=All`),
      merge(orders('held'), { spec: { suspend: true } }),
      merge(orders('held'), { metadata: { labels: { late: 'yes' } } }),
      merge(orders('held'), { metadata: { finalizers: ['example.com/hold', 'example.com/more'] } }),
      merge(orders('held'), { metadata: { deletionTimestamp: null } }),
      merge(orders('held', 'status'), { metadata: { finalizers: [] }, status: { phase: 'Failed' } }),
      post(orders(), order('held')),
      merge(`${orders('held')}?dryRun=All`, { metadata: { finalizers: [] } }),
      get(orders('held'), { capture: { last: 'metadata.resourceVersion' } }),
      merge(orders('held'), { metadata: { finalizers: [] } }),
      get(orders('held')),
      post(orders(), holding('put', ['example.com/a', 'example.com/b'])),
      remove(orders('put'), undefined, { capture: { rv: 'metadata.resourceVersion' } }),
      put(orders('put'), order({ name: 'put', resourceVersion: '@{rv}', finalizers: ['example.com/b'] }), {
        capture: { rv: 'metadata.resourceVersion' },
      }),
      put(orders('put'), order({ name: 'put', resourceVersion: '@{rv}' })),
      get(orders('put')),
      post(orders(), order({ name: 'fore', finalizers: ['foregroundDeletion'] })),
      remove(orders('fore'), { propagationPolicy: 'Background' }),
      get(orders('fore')),
    ],
  },
  {
    name: 'deletes: collection',
    steps: [
      ...['a', 'b', 'c'].map((name) =>
        post(orders(), order({ name, labels: { keep: name === 'c' ? 'yes' : 'no' } })),
      ),
      post(orders(), {
        ...holding('held'),
        metadata: { name: 'held', finalizers: ['example.com/hold'], labels: { keep: 'no' } },
      }),
      remove(`${orders()}?dryRun=All`),
      remove(`${orders()}?labelSelector=keep%3Dnone`),
      remove(`${orders()}?fieldSelector=metadata.name%3Da`),
      remove(`${orders()}?labelSelector=keep%3Dno`, { propagationPolicy: 'Background' }),
      remove(`${orders()}?labelSelector=bad%20in`),
      remove(`${orders()}?fieldSelector=spec.bad%3D1`),
      remove(orders(), { propagationPolicy: 'Odd' }),
      remove(orders(), { preconditions: { uid: 'other' } }),
      remove(`${orders()}?limit=1`),
      get(orders()),
      remove(orders()),
      merge(orders('held'), { metadata: { finalizers: null } }),
      get(orders()),
      remove(orders()),
      remove(`${root}/orders?labelSelector=nobody%3Dhas`),
    ],
  },
];
