import { get, named, order, orders, post, put, remove, root, type Scenario, type Step } from './scenario.ts';

const send = (body: string | Buffer, type = 'application/json'): Step =>
  post(orders(), body, { headers: { 'content-type': type } });
const good = JSON.stringify(order('fine', {}));
const yaml = 'apiVersion: "@{group}/v1alpha1"\nkind: Order\nmetadata: {name: yaml}\nspec: {}\n';

export const errors: Scenario[] = [
  {
    name: 'errors: bodies',
    steps: [
      send(''),
      send(' '),
      send('{'),
      send('nonsense'),
      send('null'),
      send('1'),
      send('"text"'),
      send('[]'),
      send('{}'),
      send(`${good} {}`),
      send(`${good}x`),
      send(good.replace('{}', '{"suspend":tru}')),
      send(good.replace('{}', '{"suspend":true,}')),
      named('beyond float64', send(good.replace('{}', '{"ttlSecondsAfterCompletion":1e400}'))),
      send(good.replace('{}', '{"revisionHistoryLimit":99999999999999999999}')),
      send(good.replace('{}', '{"ttlSecondsAfterCompletion":1.0}')),
      send(
        good
          .replace(
            '{}',
            '{"artifacts":[{"name":"\\ud800","type":"oci","srcRef":{"name":"a"},"dstRef":{"name":"b"}}]}',
          )
          .replace('fine', 'surrogate'),
      ),
      send(Buffer.from(good.replace('{}', '{"queueName":"\u0000"}').replace('fine', 'zero'))),
      send(good.replace('{}', `{"artifacts":${'['.repeat(10_050)}${']'.repeat(10_050)}}`)),
      send(good.replace('{}', `{"queueName":"${'x'.repeat(3_200_000)}"}`)),
      send(good, 'text/plain'),
      send(good, 'application/xml'),
      send(good, 'application/json; charset=utf-8'),
      send(good, ''),
      send(good, 'nonsense'),
      send(yaml, 'application/yaml'),
      named('two documents', send(`${yaml}---\n${yaml}`, 'application/yaml')),
      send('a: [', 'application/yaml'),
      send('- a', 'application/yaml'),
      send('text', 'application/yaml'),
      send(yaml.replace('{}', '{queueName: 012}').replace('yaml}', 'octal}'), 'application/yaml'),
      send(
        'apiVersion: &a "@{group}/v1alpha1"\nkind: Order\nmetadata: {name: anchor, labels: {a: &b c, d: *b}}\nspec: {}\n',
        'application/yaml',
      ),
    ],
  },
  {
    name: 'errors: paths and methods',
    steps: [
      get('/apis/@{group}/v1alpha1/nothings'),
      get('/apis/@{group}/v1alpha1/namespaces/@{ns}/nothings'),
      get('/apis/@{group}/v1alpha1/namespaces/@{ns}/nothings/x'),
      post('/apis/@{group}/v1alpha1/namespaces/@{ns}/nothings', {}),
      get('/apis/@{group}/v2/namespaces/@{ns}/orders'),
      get('/apis/nothing.example.com/v1/orders'),
      get('/nothing'),
      post(orders(), order('x')),
      remove(`${root}/orders/x`),
      named('below a subresource', get(`${orders('x')}/status/more`)),
      get(`${orders()}/`),
      named('post to a name', post(orders('y'), order('y'))),
    ],
  },
  {
    name: 'errors: users',
    steps: [
      post(orders(), order('x'), { as: 'nobody' }),
      get(orders(), { as: 'nobody' }),
      get(orders('x'), { as: 'nobody' }),
      get(orders('x', 'status'), { as: 'nobody' }),
      put(orders('x', 'status'), order('x'), { as: 'nobody' }),
      remove(orders('x'), undefined, { as: 'nobody' }),
      remove(orders(), undefined, { as: 'nobody' }),
      get(`${root}/orders`, { as: 'nobody' }),
      get(`${root}/clusterartifacttypes/x`, { as: 'nobody' }),
      get(`${root}/nothings`, { as: 'nobody' }),
      get('/metrics', { as: 'nobody' }),
      get(orders(), { as: 'wrong' }),
      get(orders(), { as: 'anonymous' }),
      get('/livez', { as: 'anonymous' }),
    ],
  },
];
