import {
  artifact,
  endpoint,
  endpoints,
  get,
  inNamespace,
  named,
  object,
  order,
  orders,
  post,
  put,
  root,
  type Scenario,
  type Step,
} from './scenario.ts';

const types = (name = '') => inNamespace('artifacttypes', name);
const create = (body: unknown, query = '') => post(`${orders()}${query}`, body);
const rv = { rv: 'metadata.resourceVersion' };

const metadata: Record<string, unknown>[] = [
  { name: 'labels', labels: { a: 'b', 'example.com/c': '' }, annotations: { 'Example.com/D': 'e' } },
  { name: 'finalizers', finalizers: ['example.com/f'] },
  { name: 'owners', ownerReferences: [{ apiVersion: 'v1', kind: 'Secret', name: 's', uid: 'u' }] },
  { generateName: 'made-' },
  { name: 'both', generateName: 'made-' },
  {
    name: 'server-fields',
    uid: 'mine',
    generation: 7,
    creationTimestamp: '2020-01-01T00:00:00Z',
    selfLink: '/x',
  },
  { name: 'deleting', deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 3 },
  { name: 'nulls', labels: null, annotations: null, finalizers: null },
  { name: 'empty', labels: {}, annotations: {}, finalizers: [], ownerReferences: [] },
  {},
  { name: '' },
  { name: 'Upper' },
  { name: 'under_score' },
  { name: '-dash' },
  { name: 'dot..dot' },
  { name: 'a'.repeat(254) },
  { name: 'a'.repeat(253) },
  { name: 'with/slash' },
  { name: 'namespaced', namespace: '@{ns}' },
  { name: 'elsewhere', namespace: 'other' },
  { name: 'label-key', labels: { '-a': 'b' } },
  { name: 'label-prefix', labels: { 'UP/a': 'b' } },
  { name: 'label-value', labels: { a: '-b' } },
  { name: 'label-long', labels: { a: 'b'.repeat(64) } },
  { name: 'label-type', labels: { a: 1 } },
  { name: 'labels-type', labels: [] },
  { name: 'annotation-key', annotations: { 'a b': 'c' } },
  { name: 'annotation-size', annotations: { a: 'x'.repeat(262_145) } },
  { name: 'finalizer-bare', finalizers: ['bare'] },
  { name: 'finalizer-bad', finalizers: ['example.com/-'] },
  { name: 'owner-empty', ownerReferences: [{ apiVersion: '', kind: '', name: '', uid: '' }] },
  { name: 'owner-missing', ownerReferences: [{ kind: 'Secret' }] },
  {
    name: 'two-controllers',
    ownerReferences: ['a', 'b'].map((name) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      name,
      uid: name,
      controller: true,
    })),
  },
  { name: 'unknown-meta', bogus: 1 },
  { name: 'named', generateName: 'Bad_' },
  { generateName: 'x'.repeat(100) },
  { name: 'generation-type', generation: '7' },
  { name: 'grace-type', deletionGracePeriodSeconds: '7' },
  { name: 'link-type', selfLink: 7 },
  { name: 'time-type', creationTimestamp: 7 },
  { name: 'time-word', creationTimestamp: 'yesterday' },
  { name: 'time-empty', creationTimestamp: '' },
  {
    name: 'controller-type',
    ownerReferences: [{ apiVersion: 'v1', kind: 'Secret', name: 's', uid: 'u', controller: 'x' }],
  },
  { name: 'manager-type', managedFields: [{ manager: 7 }] },
  { name: 'manager-time', managedFields: [{ manager: 'm', time: 'now' }] },
];

const specs: Record<string, unknown>[] = [
  {},
  { artifacts: [] },
  { artifacts: null },
  { artifacts: {} },
  { artifacts: 'x' },
  { artifacts: [{}] },
  { artifacts: [artifact({ type: 1 })] },
  { artifacts: [artifact({ type: null })] },
  { artifacts: [artifact({ spec: { any: [1, { thing: null }], nested: { deep: true } } })] },
  { artifacts: [artifact({ srcRef: {} })] },
  { artifacts: [1, 'x', null] },
  { suspend: 'yes' },
  { suspend: 1 },
  { suspend: null },
  { ttlSecondsAfterCompletion: -1 },
  { ttlSecondsAfterCompletion: 1.5 },
  { ttlSecondsAfterCompletion: '1' },
  { ttlSecondsAfterCompletion: 0 },
  { onChange: 'Never' },
  { onChange: 'Keep' },
  { onChange: 1 },
  { retry: { limit: 101 } },
  { retry: { limit: 100, backoff: '10s' } },
  { retry: { limit: -1, backoff: 5 } },
  { suspend: 'yes', onChange: 'Never', ttlSecondsAfterCompletion: -1 },
  { bogus: 1, artifacts: [artifact({ alsoBogus: 2 })] },
];

export const writes: Scenario[] = [
  {
    name: 'writes: metadata on create',
    steps: [
      ...metadata.map((one) => create(order(one))),
      named('revision', create(order({ name: 'versioned', resourceVersion: '1' }))),
    ],
  },
  { name: 'writes: spec on create', steps: specs.map((spec, index) => create(order(`s${index}`, spec))) },
  {
    name: 'writes: shapes on create',
    steps: [
      create(order('twice')),
      create(order('twice')),
      create({ ...order('no-spec'), spec: undefined }),
      create({ ...order('null-spec'), spec: null }),
      create({ ...order('text-spec'), spec: 'x' }),
      create({ ...order('list-spec'), spec: [] }),
      create({ ...order('no-version'), apiVersion: undefined }),
      create({ ...order('no-kind'), kind: undefined }),
      create({ ...order('bare'), kind: undefined, apiVersion: undefined }),
      create({ ...order('kind'), kind: 'Endpoint' }),
      create({ ...order('kind'), kind: 'Nothing' }),
      create({ ...order('version', {}), spec: undefined, apiVersion: '@{group}/v1' }),
      create({ ...order('core'), spec: undefined, apiVersion: 'v1' }),
      create({ ...order('no-metadata'), metadata: undefined }),
      create({ ...order('null-metadata'), metadata: null }),
      create({ ...order('text-metadata'), metadata: 'x' }),
      create(order('statusful', {}, { status: { phase: 'Running' } })),
      create(order('bad-status', {}, { status: { phase: 'Nonsense' } })),
      create(order('top', {}, { extra: 1 })),
      post(`${root}/orders`, order('nowhere')),
      post(`${root}/namespaces/nowhere/orders`, order('nowhere')),
      create(order('dry'), '?dryRun=All'),
      get(orders('dry')),
      create(order('dry'), '?dryRun=Some'),
      create(order('dry'), '?dryRun=All&dryRun=Some'),
      create(order('dry'), '?dryRun='),
      create(order('twice'), '?dryRun=All'),
      create(order({ generateName: 'dry-' }), '?dryRun=All'),
      create(order('manager'), '?fieldManager=me'),
      create(order('long-manager'), `?fieldManager=${'m'.repeat(129)}`),
      create(order('odd-manager'), '?fieldManager=%07'),
      create(order('endless'), '?timeout=10s'),
    ],
  },
  {
    name: 'writes: field validation',
    steps: ['Default', 'Strict', 'Warn', 'Ignore', 'Odd'].flatMap((mode): Step[] => {
      const query = mode === 'Default' ? '' : `?fieldValidation=${mode}`;
      const name = `mode-${mode.toLowerCase()}`;
      const text = JSON.stringify(order(`${name}-twice`, {}));
      return [
        create(order(name, { bogus: 1, artifacts: [artifact({ other: { deep: 1 } })] }), query),
        create(order({ name: `${name}-meta`, bogus: 1 }, {}), query),
        create(order(`${name}-top`, {}, { bogus: 1 }), query),
        create(text.replace('"spec":{}', '"spec":{"suspend":true,"suspend":false}'), query),
        create(text.replace('"kind"', '"kind":"Order","kind"').replace('-twice', '-kind'), query),
        create(text.replace('"metadata":{', '"metadata":{"name":"x",').replace('-twice', '-name'), query),
        create(text.replace('"spec":{}', '"spec":{"Suspend":true}').replace('-twice', '-case'), query),
        ...(mode === 'Default'
          ? [
              {
                name: 'key twice in yaml',
                ...create(
                  `apiVersion: "@{group}/v1alpha1"\nkind: Order\nmetadata:\n  name: ${name}-yaml\nspec:\n  suspend: true\n  bogus: 1\n  suspend: false\n`,
                  query,
                ),
                headers: { 'content-type': 'application/yaml' },
              },
            ]
          : []),
      ];
    }),
  },
  {
    name: 'writes: defaults',
    steps: [
      post(endpoints(), object('Endpoint', 'plain', { spec: { type: 'oci', remoteURL: 'https://a' } })),
      post(
        endpoints(),
        object('Endpoint', 'null', { spec: { type: 'oci', remoteURL: 'https://a', usage: null } }),
      ),
      post(
        endpoints(),
        object('Endpoint', 'odd', { spec: { type: 'oci', remoteURL: 'https://a', usage: 'None' } }),
      ),
      post(endpoints(), object('Endpoint', 'missing', { spec: {} })),
      post(endpoints(), object('Endpoint', 'missing')),
      post(endpoints(), endpoint('many', { maxInFlight: 0 })),
      post(
        types(),
        object('ArtifactType', 'set', {
          spec: { workflowTemplateRef: { name: 't' }, rules: { srcTypes: ['a', 'a'] } },
        }),
      ),
      post(
        types(),
        object('ArtifactType', 'map', {
          spec: {
            workflowTemplateRef: { name: 't' },
            parameters: [
              { name: 'a', value: '1' },
              { name: 'a', value: '2' },
            ],
          },
        }),
      ),
      post(
        types(),
        object('ArtifactType', 'ok', {
          spec: { workflowTemplateRef: { name: 't' }, parameters: [{ name: 'a', value: '1' }] },
        }),
      ),
      post(
        types(),
        object('ArtifactType', 'status', { spec: { workflowTemplateRef: { name: 't' } }, status: { a: 1 } }),
      ),
      get(types('ok')),
    ],
  },
  {
    name: 'writes: put',
    steps: [
      post(orders(), order({ name: 'one', labels: { a: 'b' } }), {
        capture: { rv: 'metadata.resourceVersion', uid: 'metadata.uid' },
      }),
      put(orders('one'), order({ name: 'one', labels: { a: 'b' }, resourceVersion: '@{rv}' }), {
        capture: { same: 'metadata.resourceVersion' },
      }),
      put(orders('one'), order({ name: 'one' })),
      put(orders('one'), order({ name: 'one', resourceVersion: '@{rv}' }, { suspend: true }), {
        capture: { rv2: 'metadata.resourceVersion' },
      }),
      put(orders('one'), order({ name: 'one', resourceVersion: '@{rv}' }, { suspend: false })),
      named('word as revision', put(orders('one'), order({ name: 'one', resourceVersion: 'x' }))),
      put(orders('one'), order({ name: 'one', resourceVersion: '0' })),
      put(orders('one'), order({ name: 'two', resourceVersion: '@{rv2}' })),
      put(orders('one'), order({ resourceVersion: '@{rv2}' })),
      put(orders('one'), order({ name: 'one', namespace: 'other', resourceVersion: '@{rv2}' })),
      named('other uid', put(orders('one'), order({ name: 'one', uid: 'other', resourceVersion: '@{rv2}' }))),
      put(orders('one'), { ...order({ name: 'one', resourceVersion: '@{rv2}' }), kind: 'Endpoint' }),
      put(orders('one'), order({ name: 'one', resourceVersion: '@{rv2}' }, { suspend: 'x' })),
      put(orders('absent'), order({ name: 'absent' })),
      put(orders('absent'), order({ name: 'absent', resourceVersion: '1' })),
      put(
        `${orders('one')}?dryRun=All`,
        order({ name: 'one', resourceVersion: '@{rv2}' }, { onChange: 'Keep' }),
      ),
      put(`${orders('one')}?dryRun=Never`, order({ name: 'one', resourceVersion: '@{rv2}' })),
      put(
        `${orders('one')}?fieldManager=${'x'.repeat(200)}`,
        order({ name: 'one', resourceVersion: '@{rv2}' }),
      ),
      put(
        `${orders('one')}?fieldValidation=Strict`,
        order({ name: 'one', resourceVersion: '@{rv2}' }, { bogus: 1 }),
      ),
      put(
        orders('one'),
        order({ name: 'one', resourceVersion: '@{rv2}', creationTimestamp: '2020-01-01T00:00:00Z' }),
      ),
      get(orders('one'), { capture: rv }),
      put(
        orders('one'),
        order({ name: 'one', resourceVersion: '@{rv}', generation: 99 }, { onChange: 'Keep' }),
        { capture: rv },
      ),
      put(
        orders('one'),
        order({ name: 'one', resourceVersion: '@{rv}', labels: { x: 'y' } }, { onChange: 'Keep' }),
        { capture: rv },
      ),
      put(
        orders('one'),
        order(
          { name: 'one', resourceVersion: '@{rv}', deletionTimestamp: '2020-01-01T00:00:00Z' },
          { onChange: 'Keep' },
        ),
      ),
      put(`${root}/namespaces/nowhere/orders/one`, order({ name: 'one', resourceVersion: '1' })),
    ],
  },
  {
    name: 'writes: status',
    steps: [
      post(orders(), order('one', {}, { status: { phase: 'Failed' } }), { capture: rv }),
      put(
        orders('one'),
        order({ name: 'one', resourceVersion: '@{rv}' }, {}, { status: { phase: 'Failed' } }),
      ),
      put(
        orders('one', 'status'),
        order(
          { name: 'one', resourceVersion: '@{rv}', labels: { a: 'b' }, finalizers: ['a.b/c'] },
          { suspend: true },
          { status: { phase: 'Running' } },
        ),
        { capture: { rv2: 'metadata.resourceVersion' } },
      ),
      put(
        orders('one', 'status'),
        order({ name: 'one', resourceVersion: '@{rv}' }, {}, { status: { phase: 'Failed' } }),
      ),
      put(orders('one', 'status'), order({ name: 'one' }, {}, { status: { phase: 'Failed' } })),
      put(
        orders('one', 'status'),
        order({ name: 'one', resourceVersion: '@{rv2}' }, {}, { status: { phase: 'Odd' } }),
      ),
      put(
        orders('one', 'status'),
        order({ name: 'one', resourceVersion: '@{rv2}' }, {}, { status: { phase: 'Running' } }),
      ),
      put(
        orders('one', 'status'),
        order({ name: 'one', resourceVersion: '@{rv2}' }, {}, { status: { phase: 'Running', bogus: 1 } }),
      ),
      put(orders('one', 'status'), order({ name: 'one', resourceVersion: '@{rv2}' }, {}), { capture: rv }),
      get(orders('one', 'status')),
      put(
        orders('one', 'status'),
        order({ name: 'one', resourceVersion: '@{rv}', labels: { a: '-b' } }, {}, { status: {} }),
      ),
      post(orders(), order('bad-spec', {}), { capture: { bad: 'metadata.resourceVersion' } }),
      named(
        'bad spec',
        put(
          orders('bad-spec', 'status'),
          order(
            { name: 'bad-spec', resourceVersion: '@{bad}' },
            { suspend: 'x' },
            { status: { phase: 'Running' } },
          ),
        ),
      ),
      put(orders('absent', 'status'), order({ name: 'absent', resourceVersion: '1' }, {}, { status: {} })),
      post(orders('one', 'status'), order('one')),
      { method: 'DELETE', path: orders('one', 'status') },
      post(types(), object('ArtifactType', 'at', { spec: { workflowTemplateRef: { name: 't' } } })),
      put(
        `${types('at')}/status`,
        object('ArtifactType', 'at', { spec: { workflowTemplateRef: { name: 't' } } }),
      ),
    ],
  },
];
