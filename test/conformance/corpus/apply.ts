import {
  apply,
  get,
  inNamespace,
  jsonPatch,
  merge,
  named,
  object,
  order,
  orders,
  post,
  put,
  type Scenario,
  type Step,
} from './scenario.ts';

const types = inNamespace('artifacttypes', 'one');
const by = (manager: string, body: unknown, query = ''): Step =>
  apply(`${orders('one')}?fieldManager=${manager}${query}`, body);
const type = (manager: string, spec: object, query = ''): Step =>
  apply(
    `${types}?fieldManager=${manager}${query}`,
    object('ArtifactType', 'one', { spec: { workflowTemplateRef: { name: 't' }, ...spec } }),
  );
const pair = (name: string, value: string) => ({ name, value });

export const applies: Scenario[] = [
  {
    name: 'apply: ownership',
    steps: [
      by('m1', order('one', { suspend: true, onChange: 'Keep' })),
      by('m1', order('one', { suspend: true, onChange: 'Keep' })),
      by('m2', order('one', { suspend: true })),
      by('m2', order('one', { suspend: false })),
      by('m2', order('one', { suspend: false }), '&force=true'),
      by('m1', order('one', { onChange: 'Keep' })),
      by('m1', order('one', {})),
      by('m2', order({ name: 'one', labels: { a: 'b' } }, {})),
      by('m1', order({ name: 'one', labels: { a: 'c' } }, {})),
      by('m1', order({ name: 'one', labels: { a: 'c' } }, {}), '&force=true&dryRun=All'),
      get(orders('one')),
    ],
  },
  {
    name: 'apply: map lists and sets',
    steps: [
      type('m1', { parameters: [pair('a', '1'), pair('b', '2')], rules: { srcTypes: ['x', 'y'] } }),
      type('m2', { parameters: [pair('c', '3'), pair('a', '1')], rules: { srcTypes: ['z', 'x'] } }),
      type('m2', { parameters: [pair('a', '9')] }),
      type('m1', { parameters: [pair('b', '2')], rules: { srcTypes: ['y'] } }),
      get(types),
    ],
  },
  {
    name: 'apply: updates',
    steps: [
      post(`${orders()}?fieldManager=maker`, order('one', { suspend: true }), {
        capture: { rv: 'metadata.resourceVersion' },
      }),
      by('m1', order('one', { onChange: 'Keep' })),
      merge(`${orders('one')}?fieldManager=patcher`, { spec: { onChange: 'Rerun' } }),
      by('m1', order('one', { onChange: 'Keep' })),
      jsonPatch(`${orders('one')}?fieldManager=patcher`, [{ op: 'remove', path: '/spec/suspend' }]),
      get(orders('one'), { capture: { rv: 'metadata.resourceVersion' } }),
      put(
        `${orders('one')}?fieldManager=putter`,
        order({ name: 'one', resourceVersion: '@{rv}' }, { queueName: 'q' }),
      ),
      merge(orders('one'), { metadata: { labels: { a: 'b' } } }),
      merge(`${orders('one', 'status')}?fieldManager=controller`, { status: { phase: 'Running' } }),
      merge(`${orders('one')}?fieldManager=clear`, { metadata: { managedFields: [{}] } }),
      merge(`${orders('one')}?fieldManager=after`, { metadata: { labels: { c: 'd' } } }),
      get(orders('one')),
    ],
  },
  {
    name: 'apply: requests',
    steps: [
      apply(orders('one'), order('one', {})),
      by('m1', order('one', {}), '&dryRun=All'),
      by('m1', order({ name: 'one', uid: 'other' }, {})),
      by('m1', order({ name: 'one', resourceVersion: '1' }, {})),
      apply(`${orders('one', 'status')}?fieldManager=m1`, order('one', {}, { status: { phase: 'Running' } })),
      named('unknown field', by('m1', order('one', { bogus: 1 }))),
      by('m1', order({ name: 'one', managedFields: [{ manager: 'x' }] }, {})),
      by('m1', { ...order('one', {}), apiVersion: undefined }),
      by('m1', { ...order('one', {}), kind: 'Endpoint' }),
      by('m1', order('two', {})),
      by('m1', 'kind: ['),
      by('m1', ''),
      by(
        'm1',
        'apiVersion: "@{group}/v1alpha1"\nkind: Order\nmetadata:\n  name: one\nspec:\n  suspend: true\n',
      ),
      apply(
        `${orders('one', 'status')}?fieldManager=m1`,
        order('one', { suspend: false }, { status: { phase: 'Running' } }),
      ),
      apply(
        `${orders('one', 'status')}?fieldManager=m2`,
        object('Order', 'one', { status: { phase: 'Failed' } }),
      ),
      apply(`${orders('one')}?fieldManager=m1`, order('one', {}), {
        headers: { 'content-type': 'application/apply-patch+cbor' },
      }),
      get(orders('one')),
    ],
  },
];
