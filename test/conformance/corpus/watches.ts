import {
  accept,
  endpoint,
  endpoints,
  get,
  merge,
  order,
  orders,
  post,
  remove,
  type Scenario,
  type Step,
  watch,
} from './scenario.ts';

const rv = (name: string) => ({ capture: { [name]: 'metadata.resourceVersion' } });
const label = (name: string, value: string | null): Step =>
  merge(orders(name), { metadata: { labels: { in: value } } });
const table = accept('application/json;as=Table;v=v1;g=meta.k8s.io');
const partial = accept('application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io');

const initial = 'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';
const ready = {
  type: 'Ready',
  status: 'True',
  reason: 'Up',
  message: 'fine',
  lastTransitionTime: '2026-01-01T00:00:00Z',
};

const history: Step[] = [
  get(`${orders()}?resourceVersion=`, rv('start')),
  post(orders(), order({ name: 'a', labels: { in: 'yes' } }), rv('ra')),
  post(orders(), order('b'), rv('rb')),
  label('b', 'yes'),
  label('a', null),
  merge(orders('a'), { spec: { suspend: true } }),
  merge(orders('b', 'status'), { status: { phase: 'Running' } }),
  remove(orders('b')),
  post(orders(), order({ name: 'c', finalizers: ['example.com/hold'] }), rv('rc')),
  remove(orders('c')),
  merge(orders('c'), { metadata: { finalizers: null } }),
  get(orders(), rv('end')),
];

export const watches: Scenario[] = [
  {
    name: 'watches: replay',
    steps: [
      ...history,
      watch(`${orders()}?resourceVersion=@{start}`, 10),
      watch(`${orders()}?resourceVersion=@{rb}`, 8),
      watch(`${orders()}?resourceVersion=@{end}`, 0),
      watch(`${orders()}?resourceVersion=@{start}&labelSelector=in%3Dyes`, 5),
      watch(`${orders()}?resourceVersion=@{start}&labelSelector=%21in`, 7),
      watch(`${orders()}?resourceVersion=@{start}&fieldSelector=metadata.name%3Da`, 3),
      watch(`${orders()}?resourceVersion=@{start}&fieldSelector=metadata.name%21%3Da`, 7),
      watch(`${orders()}?resourceVersion=@{rc}`, 2),
      watch(`${orders()}?resourceVersion=@{start}&limit=1`, 10),
      watch(`${orders()}?resourceVersion=@{start}`, 10, [], partial),
    ],
  },
  {
    name: 'watches: from now',
    steps: [
      post(orders(), order({ name: 'a', labels: { in: 'yes' } })),
      post(orders(), order('b')),
      get(orders()),
      watch(orders(), 2),
      watch(`${orders()}?resourceVersion=0`, 2),
      watch(`${orders()}?labelSelector=in`, 1),
      watch(`${orders()}?fieldSelector=metadata.name%3Da`, 1),
      watch(`${orders()}?fieldSelector=metadata.name%3Dabsent`, 0),
      watch(orders(), 4, [label('a', 'no'), label('b', 'yes')]),
      watch(orders(), 2, [merge(orders('a'), {})]),
      watch(orders(), 2, [merge(`${orders('a')}?dryRun=All`, { spec: { suspend: true } })]),
      watch(orders(), 2, [], partial),
      watch(`${orders('a')}?x=1`, 1),
    ],
  },
  {
    name: 'watches: transitions',
    steps: [
      post(orders(), order('a')),
      get(orders(), rv('start')),
      watch(`${orders()}?resourceVersion=@{start}&labelSelector=in%3Dyes`, 4, [
        label('a', 'yes'),
        merge(orders('a'), { spec: { suspend: true } }),
        label('a', 'no'),
        label('a', 'yes'),
      ]),
      watch(`${orders()}?resourceVersion=@{start}&labelSelector=in%3Dyes`, 5, [remove(orders('a'))]),
    ],
  },
  {
    name: 'watches: initial events',
    steps: [
      post(orders(), order('a')),
      post(orders(), order('b'), rv('rb')),
      get(orders()),
      watch(
        `${orders()}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
        3,
      ),
      watch(
        `${orders()}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=0`,
        3,
      ),
      watch(
        `${orders()}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=@{rb}`,
        3,
      ),
      watch(
        `${orders()}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`,
        3,
        [],
        partial,
      ),
      watch(`${orders()}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan`, 2),
      watch(`${orders()}?sendInitialEvents=true`, 0),
      watch(`${orders()}?sendInitialEvents=true&resourceVersionMatch=Exact`, 0),
      watch(`${orders()}?sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion=@{rb}`, 0),
      watch(`${orders()}?sendInitialEvents=false`, 0),
      watch(`${orders()}?sendInitialEvents=x`, 0),
      watch(`${orders()}?resourceVersionMatch=NotOlderThan`, 0),
      watch(`${orders()}?resourceVersionMatch=Exact&resourceVersion=@{rb}`, 0),
    ],
  },
  {
    name: 'watches: tables',
    steps: [
      get(endpoints(), rv('start')),
      ...['a', 'b'].flatMap((name) => [
        post(endpoints(), endpoint(name)),
        merge(endpoints(name, 'status'), { status: { conditions: [ready] } }, rv('ready')),
      ]),
      get(endpoints()),
      watch(endpoints(), 2, [], table),
      watch(
        `${endpoints()}?resourceVersion=@{ready}`,
        1,
        [merge(endpoints('a'), { spec: { usage: 'PullOnly' } })],
        table,
      ),
      watch(`${endpoints()}?resourceVersion=@{ready}`, 2, [remove(endpoints('a'))], table),
      watch(`${endpoints()}?resourceVersion=@{ready}&includeObject=None`, 2, [], table),
      watch(`${endpoints()}?resourceVersion=@{ready}&includeObject=Object`, 2, [], table),
      watch(`${endpoints()}?${initial}`, 2, [], table),
    ],
  },
  {
    name: 'watches: refused',
    steps: [
      watch(`${orders()}?labelSelector=a%20in`, 1),
      watch(`${orders()}?fieldSelector=spec.bad%3D1`, 1),
      watch(`${orders()}?continue=x`, 1),
      watch(`${orders()}?timeoutSeconds=x`, 1),
      watch(orders(), 1, [], accept('application/yaml')),
      watch(orders(), 0, [], { as: 'nobody' }),
    ],
  },
];
