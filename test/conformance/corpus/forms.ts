import {
  accept,
  get,
  merge,
  named,
  object,
  order,
  orders,
  post,
  put,
  remove,
  root,
  type Scenario,
  type Step,
  watch,
} from './scenario.ts';

const rv = { capture: { rv: 'metadata.resourceVersion' } };
const yaml = (name: string, text: string): Step =>
  post(orders(), `apiVersion: "@{group}/v1alpha1"\nkind: Order\nmetadata:\n  name: ${name}\n${text}\n`, {
    headers: { 'content-type': 'application/yaml' },
  });
const scalars = [
  ...['yes', 'no', 'on', 'off', 'y', 'n', 'Yes', 'NO', 'True', 'FALSE', '~', 'null', 'Null'],
  ...[
    '012',
    '0o14',
    '0x1F',
    '0b11',
    '1_000',
    '+1',
    '-0',
    '1e3',
    '1.',
    '.5',
    '.inf',
    '.NaN',
    '1:20',
    '12:30:45',
  ],
  ...['2020-01-01', '2020-01-01T00:00:00Z', '!!str 12', '!!int "12"', '"yes"', '<<', '=', '1.0', '1e400'],
];
const huge = (name: string) => order({ name, annotations: { text: 'x'.repeat(200_000) } });
const gzip = { headers: { 'accept-encoding': 'gzip' } };
const agent = (value: string) => ({ headers: { 'user-agent': value } });
const partialList = accept('application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io');

/** How requests and answers are written, and paths and methods that few clients use. */
export const forms: Scenario[] = [
  {
    name: 'forms: scalars of yaml',
    steps: [
      ...scalars.map((text, index) =>
        yaml(
          `q${index}`,
          `spec: { artifacts: [{ name: ${text}, type: oci, srcRef: { name: a }, dstRef: { name: b } }] }`,
        ),
      ),
      ...scalars.map((text, index) => yaml(`s${index}`, `spec: { suspend: ${text} }`)),
      ...scalars.map((text, index) => yaml(`t${index}`, `spec: { ttlSecondsAfterCompletion: ${text} }`)),
      yaml('keys', 'spec: { yes: 1, 2: 3, 0x10: 4, ~: 5 }'),
      yaml('merge', 'x: &x { suspend: true }\nspec: { <<: *x }'),
      yaml('tagged', 'spec: !foo { suspend: true }'),
    ],
  },
  {
    name: 'forms: compression and indents',
    steps: [
      post(orders(), order('small')),
      post(orders(), huge('huge')),
      get(orders(), gzip),
      get(orders('small'), gzip),
      get(orders('huge'), gzip),
      get(orders('huge'), { headers: { 'accept-encoding': 'identity' } }),
      get(orders(), { headers: { 'accept-encoding': 'gzip', accept: 'application/yaml' } }),
      watch(orders(), 2, [], gzip),
      get(`${orders('small')}?pretty=true`),
      get(`${orders('small')}?pretty=1`),
      get(`${orders('small')}?pretty`),
      get(`${orders('small')}?pretty=0`, agent('curl/8.0')),
      get(`${orders('small')}?pretty=false`, agent('curl/8.0')),
      get(orders('small'), agent('curl/8.0')),
      get(orders('small'), agent('Mozilla/5.0 (X11)')),
      get(orders('small'), agent('Wget/1.2')),
      get(orders('absent'), agent('curl/8.0')),
      get(`${orders()}?labelSelector=none`, agent('curl/8.0')),
    ],
  },
  {
    name: 'forms: paths and methods',
    steps: [
      post(orders(), order('one'), rv),
      put(orders(), order({ name: 'one', resourceVersion: '@{rv}' })),
      merge(orders(), { spec: {} }),
      get(`${root}//namespaces/@{ns}/orders/one`),
      get(`${root}/namespaces/@{ns}//orders`),
      get(`${orders('one')}/`),
      named('one as a list', get(orders('one'), partialList)),
      { method: 'OPTIONS', path: orders('one') },
      { method: 'TRACE', path: orders('one') },
      { method: 'PROPFIND', path: orders('one') },
      post(`${orders('one')}/scale`, {}),
      put(orders('one', 'scale'), {}),
      get(`${root}/namespaces`),
      get(`${root}/namespaces/@{ns}`),
      get(`${root}/namespaces/@{ns}/`),
      named(
        'protobuf body',
        post(orders(), order('proto'), {
          headers: { 'content-type': 'application/vnd.kubernetes.protobuf' },
        }),
      ),
      merge(
        orders('one'),
        { spec: {} },
        { headers: { 'content-type': 'application/vnd.kubernetes.protobuf' } },
      ),
      remove(orders('one'), 'kind: DeleteOptions\napiVersion: v1\ndryRun: [All]\n', {
        headers: { 'content-type': 'application/yaml' },
      }),
      remove(orders('one'), { dryRun: ['All'] }, { headers: { 'content-type': 'text/plain' } }),
      get(`${orders('one')}?dryRun=Odd`),
      get(`${orders()}?dryRun=All`),
      post(`${orders()}?dryRun=All&dryRun=All`, order('dry')),
      post(`${orders()}?dryRun=`, order('wet')),
      post(`${orders()}?fieldManager=`, order('managed')),
      post(`${orders()}?dryRun=All`, order({ generateName: 'made-' })),
      post(orders(), order({ name: 'owned', managedFields: [{ manager: 'x' }] })),
      post(orders(), order({ name: 'null-label', labels: { a: null } })),
      post(orders(), order({ name: 'null-annotation', annotations: { a: null } })),
    ],
  },
  {
    name: 'forms: revisions to come',
    steps: [
      post(orders(), order('one')),
      get(`${orders('one')}?resourceVersion=900000000`),
      get(`${orders()}?resourceVersion=900000000`),
      get(`${orders()}?resourceVersion=900000000&resourceVersionMatch=Exact`),
      watch(`${orders()}?resourceVersion=900000000`, 0),
      get(`${orders()}?resourceVersion=99999999999999999999`),
      get(`${orders()}?resourceVersion=01`),
      get(`${orders()}?resourceVersion=1.0`),
    ],
  },
  {
    name: 'forms: impersonation',
    steps: [
      get(orders(), { headers: { 'impersonate-user': 'nobody' } }),
      get(orders(), { headers: { 'impersonate-user': 'boss', 'impersonate-group': 'system:masters' } }),
      get(orders(), { headers: { 'impersonate-user': 'system:anonymous' } }),
      get(orders(), { as: 'nobody', headers: { 'impersonate-user': 'admin' } }),
      get(orders(), { as: 'nobody', headers: { 'impersonate-user': 'x', 'impersonate-group': 'g' } }),
    ],
  },
  {
    name: 'forms: a namespace that ends',
    steps: [
      post(orders(), order('one')),
      remove('/api/v1/namespaces/@{ns}', undefined, { pick: () => undefined }),
      post(orders(), order('two')),
      post(`${orders()}?dryRun=All`, order('two')),
      merge(orders('one'), { spec: { suspend: true } }),
      named('apply while it ends', {
        method: 'PATCH',
        path: `${orders('three')}?fieldManager=m`,
        headers: { 'content-type': 'application/apply-patch+yaml' },
        body: object('Order', 'three', { spec: {} }),
      }),
      remove(orders('one')),
    ],
  },
];
