import { once } from 'node:events';
import tls from 'node:tls';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApi, type TestApi } from '../fixtures/api-server.ts';
import { eventually } from '../fixtures/eventually.ts';
import { type Answer, rawBytes, rawClient, type Sent } from '../fixtures/raw-http.ts';

const group = '/apis/arc.opendefense.cloud/v1alpha1';
const orders = `${group}/namespaces/default/orders`;
const artifact = { type: 'oci', srcRef: { name: 'a' }, dstRef: { name: 'b' }, spec: { image: 'a:1' } };
const order = (spec: unknown, metadata: object = {}) => ({
  apiVersion: 'arc.opendefense.cloud/v1alpha1',
  kind: 'Order',
  metadata: { name: 'hostile', ...metadata },
  spec,
});

let api: TestApi;
let send: ReturnType<typeof rawClient>;

beforeAll(async () => {
  api = await startApi();
  send = rawClient(api);
  for (const [path, object] of [
    ['/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } }],
    [orders, order({ artifacts: [artifact, { ...artifact, name: 'b' }] }, { name: 'target' })],
  ] as const) {
    expect((await send('POST', path, { body: JSON.stringify(object) })).code).toBe(201);
  }
});

// Whatever a client does: the process serves on, and the log of its own failures stays empty.
afterAll(async () => {
  const alive = await send('GET', `${orders}/target`);
  await api[Symbol.asyncDispose]();
  expect(alive.code).toBe(200);
  expect(api.log).toEqual([]);
  expect(process.memoryUsage.rss()).toBeLessThan(1_500_000_000);
});

/** The answer has to be a Status of that code and a reason, short enough to be read. */
function refused(answer: Answer, code: number): { message: string; fields: string[] } {
  expect([answer.code, answer.text.slice(0, 300)]).toEqual([
    code,
    expect.stringContaining('"kind":"Status"'),
  ]);
  const status = JSON.parse(answer.text);
  expect(status).toMatchObject({ apiVersion: 'v1', status: 'Failure', code, reason: expect.any(String) });
  expect(answer.headers['content-type']).toBe('application/json');
  expect(answer.text.length).toBeLessThan(100_000);
  expect(status.message).not.toMatch(/undefined|\[object|Maximum call stack|node_modules|\n/);
  const fields = (status.details?.causes ?? []).map((cause: { field?: string }) => cause.field ?? '');
  return { message: status.message, fields };
}

const post = (body: unknown, sent: Sent = {}) =>
  send('POST', orders, { body: typeof body === 'string' ? body : JSON.stringify(body), ...sent });
const yaml = (body: string) => post(body, { type: 'application/yaml' });
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const many = <T>(count: number, make: (index: number) => T) =>
  Array.from({ length: count }, (_, at) => make(at));

describe('bodies that are no object', () => {
  it.each<[string, string | Uint8Array, RegExp]>([
    ['nothing', '', /must hold an object/],
    ['null', 'null', /must hold an object/],
    ['a list', '[]', /must hold an object/],
    ['a number', '5', /must hold an object/],
    ['an empty object', '{}', /'Kind' is missing/],
    ['half an object', '{"apiVersion":', /not valid JSON/],
    ['text', 'hello', /not valid JSON/],
    ['UTF-16', Buffer.from('{"a":1}', 'utf16le'), /not valid JSON/],
    [
      'bytes that are no UTF-8',
      Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]),
      /not valid UTF-8/,
    ],
    ['10,000 levels', nested(10_000), /nested deeper than 500 levels/],
    ['1,400,000 levels', nested(1_400_000), /nested deeper than 500 levels/],
    ['levels without an end', '{"a":'.repeat(500_000), /nested deeper than 500 levels/],
  ])('%s is refused', async (_what, body, words) => {
    expect(refused(await send('POST', orders, { body }), 400).message).toMatch(words);
  });

  it.each<[string, string, number, RegExp]>([
    ['broken', ': : [', 400, /error converting YAML to JSON/],
    ['self-containing', 'a: &a [*a]', 400, /contains itself/],
    ['several documents', 'a: 1\n---\nb: 2', 400, /several documents/],
    ['repeating a key', 'a: 1\na: 2', 400, /key "a" already set in map/],
    ['deep', nested(10_000), 400, /nested deeper than 500 levels/],
    [
      'full of aliases',
      many(9, (at) => `k${at}: &k${at} [${`*k${at - 1},`.repeat(at && 10)}x]`).join('\n'),
      400,
      /./,
    ],
    ['of 30,000 keys', many(30_000, (at) => `k${at}: 1`).join('\n'), 400, /'Kind' is missing/],
    [
      'of 15,000 anchors',
      many(15_000, (at) => `- &a${at} 1\n- *a${at}`).join('\n'),
      400,
      /must hold an object/,
    ],
    ['too large', '#'.repeat(600_000), 413, /limit is 524288 for YAML/],
  ])('YAML that is %s is refused', async (_what, body, code, words) => {
    expect(refused(await yaml(body), code).message).toMatch(words);
  });

  it.each<[string, string]>([
    ['nothing', ''],
    ['the mark alone', 'k8s\0'],
    ['an endless number', `k8s\0${'\xff'.repeat(20)}`],
    ['a field longer than the body', 'k8s\0\x0a\xff\xff\xff\xff\x7f'],
    ['a message in a text', 'k8s\0\x0a\x04\x0a\x02v1'],
  ])('protobuf of %s is refused', async (_what, bytes) => {
    const sent = { body: Buffer.from(bytes, 'latin1'), type: 'application/vnd.kubernetes.protobuf' };
    refused(await send('POST', '/api/v1/namespaces/default/secrets', sent), 400);
    refused(await send('POST', orders, sent), 415);
  });

  it.each(['text/xml', 'application/x-www-form-urlencoded', 'application/cbor', ';;;,', 'json'])(
    'the content type %s is refused, naming those there are',
    async (type) => {
      expect(refused(await post('{}', { type }), 415).message).toContain('application/json');
    },
  );

  it('compressed bodies are refused', async () => {
    const body = gzipSync(Buffer.alloc(50_000_000));
    const answer = await send('POST', orders, { body, headers: { 'content-encoding': 'gzip' } });
    expect(refused(answer, 415).message).toContain('"gzip"');
  });

  it.each([false, true])(
    'more than 3 MiB are refused and the client can go on (chunked: %s)',
    async (chunked) => {
      const body = `{"a":"${'x'.repeat(4_000_000)}"}`;
      refused(await send('POST', orders, { body, chunked }), 413);
      expect((await send('GET', `${orders}/target`)).code).toBe(200);
    },
  );
});

describe('objects of wrong types', () => {
  const wrong = [5, 'text', true, [5], [null]];
  it('are refused with the field named, at every level', async () => {
    for (const value of wrong) {
      const cases: [unknown, RegExp][] = [
        [order(value), / spec: /],
        [{ ...order({}), metadata: value }, /metadata must be an object/],
        [order({ artifacts: [value] }), /spec\.artifacts\[0\]/],
        [order({ artifacts: [{ ...artifact, srcRef: value }] }), /spec\.artifacts\[0\]\.srcRef/],
        [order({ artifacts: [{ ...artifact, spec: value }] }), /spec\.artifacts\[0\]\.spec/],
        [order({ artifacts: [{ ...artifact, cron: value }] }), /spec\.artifacts\[0\]\.cron/],
        [order({}, { labels: value }), /metadata\.labels/],
        [order({}, { annotations: value }), /metadata\.annotations/],
        [order({}, { ownerReferences: value }), /metadata\.ownerReferences/],
        [order({}, { finalizers: [{ value }] }), /metadata\.finalizers/],
        [order({}, { name: [value] }), /metadata\.name/],
        [order({}, { generateName: { value } }), /metadata\.generateName/],
        [{ ...order({}), kind: [value] }, /Kind/],
        [{ ...order({}), apiVersion: { value } }, /API version/],
      ];
      for (const [body, words] of cases) {
        const answer = await post(body);
        expect([400, 422]).toContain(answer.code);
        expect(refused(answer, answer.code).message).toMatch(words);
      }
    }
  });

  it('do not reach the prototype of anything', async () => {
    for (const key of ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty']) {
      const body = JSON.stringify({
        ...order(
          { artifacts: [{ ...artifact, spec: { KEY: { polluted: 1 } } }] },
          { generateName: 'p-', name: '' },
        ),
        KEY: { polluted: 1 },
      }).replaceAll('"KEY"', `"${key}"`);
      expect((await post(body)).code).toBe(201);
      const merge = { body: `{"spec":{"${key}":{"polluted":1}}}`, type: 'application/merge-patch+json' };
      expect((await send('PATCH', `${orders}/target`, merge)).code).toBe(200);
      refused(await send('GET', `${orders}/${key}`), 404);
      expect((await send('GET', `${group}/namespaces/default/${key}`)).code).toBe(404);
      refused(await send('GET', `${orders}?fieldSelector=${key}%3Dx`), 400);
    }
    expect('polluted' in {}).toBe(false);
  });

  it('of a megabyte in one place are answered shortly', async () => {
    const long = 'x'.repeat(1_000_000);
    const cases: [unknown, string][] = [
      [order({}, { labels: { a: long } }), 'metadata.labels'],
      [order({}, { labels: { [long]: 'a' } }), 'metadata.labels'],
      [order({}, { annotations: { a: long } }), 'metadata.annotations'],
      [order({}, { name: long }), 'metadata.name'],
      [order({}, { labels: Object.fromEntries(many(50_000, (at) => [`-${at}`, '-'])) }), 'metadata.labels'],
      [order({ artifacts: many(50_000, () => ({ type: 5 })) }), 'spec.artifacts[0].type'],
      [order({}, { finalizers: [long] }), 'metadata.finalizers'],
    ];
    for (const [body, field] of cases) expect(refused(await post(body), 422).fields[0]).toContain(field);
    const unknown = Object.fromEntries(many(50_000, (at) => [`k${at}`, 1]));
    const strict = await send('POST', `${orders}?fieldValidation=Strict`, {
      body: JSON.stringify(order(unknown)),
    });
    expect(refused(strict, 400).message).toContain('unknown field "spec.k0"');
    const warned = await post(order(unknown, { name: 'warned' }));
    expect(warned.code).toBe(201);
    expect(String(warned.headers.warning).length).toBeLessThan(8_000);
  });

  it('that name a key twice are warned of, or refused where the client is strict', async () => {
    const body = JSON.stringify(order({ artifacts: [] }, { name: 'twice' })).replace('{', '{"kind":"Order",');
    expect(refused(await send('POST', `${orders}?fieldValidation=Strict`, { body }), 400).message).toContain(
      'duplicate field "kind"',
    );
    expect((await post(body)).headers.warning).toContain('duplicate field');
  });
});

describe('patches', () => {
  const patch = (operations: unknown, type = 'application/json-patch+json') =>
    send('PATCH', `${orders}/target`, { body: JSON.stringify(operations), type });
  const list = many(200_000, (index) => index);

  it.each<[string, unknown, number]>([
    ['no list', {}, 400],
    ['an unknown operation', [{ op: 'eval', path: '/spec' }], 422],
    ['a pointer without a slash', [{ op: 'add', path: 'spec', value: 1 }], 422],
    ['a test that fails', [{ op: 'test', path: '/metadata/name', value: 'other' }], 422],
    ['an index far away', [{ op: 'replace', path: '/spec/artifacts/4294967290', value: {} }], 422],
    ['a length', [{ op: 'replace', path: '/spec/artifacts/length', value: 4_294_967_295 }], 422],
    ['the prototype', [{ op: 'add', path: '/__proto__/polluted', value: 1 }], 422],
    ['another kind', [{ op: 'replace', path: '/kind', value: 'Secret' }], 422],
    ['another uid', [{ op: 'replace', path: '/metadata/uid', value: 'x' }], 422],
    ['nothing left', [{ op: 'remove', path: '' }], 422],
    ['copies that double', many(60, (at) => ({ op: 'copy', from: '/spec', path: `/spec/x${at}` })), 413],
    ['too many operations', many(10_001, () => ({ op: 'remove', path: '/x' })), 413],
    ['a pointer of a megabyte', [{ op: 'remove', path: '/a'.repeat(500_000) }], 422],
    [
      'a big value moved 9,999 times',
      [
        { op: 'add', path: '/spec/a', value: list },
        ...many(9_998, (at) =>
          at % 2 ? { op: 'move', from: '/b', path: '/spec/a' } : { op: 'move', from: '/spec/a', path: '/b' },
        ),
        { op: 'test', path: '/kind', value: 'x' },
      ],
      422,
    ],
  ])('of %s are refused', async (_what, operations, code) => {
    refused(await patch(operations), code);
  });

  it.each<[unknown, number]>([
    [[], 400],
    [5, 400],
    [{ metadata: 5 }, 422],
    [{ metadata: { labels: [] } }, 422],
    [{ metadata: { resourceVersion: 'x' } }, 409],
    [{ metadata: { deletionTimestamp: '2020-01-01T00:00:00Z' } }, 422],
    [{ spec: 5 }, 422],
    [{ spec: { artifacts: [null] } }, 422],
    [{ kind: null }, 422],
  ])('merging %j are refused', async (changes, code) => {
    refused(await patch(changes, 'application/merge-patch+json'), code);
  });
});

describe('addresses and parameters', () => {
  it.each(['x%2Fy', '..%2f..%2fetc%2fpasswd', '%00', 'a%00b', '%', '%zz', '%ff', 'x%25', '%2e%2e%2f'])(
    'the name %s is refused',
    async (name) => {
      refused(await send('GET', `${orders}/${name}`), 400);
    },
  );

  it.each([
    '/..',
    '/orders',
    '/api/v2/x',
    '/apis/x/y/z',
    `/apis/${'x/'.repeat(3000)}`,
    '/healthz/../../etc/passwd',
  ])('nothing is found at %s', async (path) => {
    expect((await send('GET', path)).code).toBe(404);
  });

  const token = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const key = 'meta.k8s.io/v1';
  it.each<[string, number]>([
    ['limit=1e3', 400],
    ['limit=99999999999999999999', 400],
    ['continue=x', 400],
    [`continue=${token(null)}`, 400],
    [`continue=${token({ v: key, rv: 1, start: '../../secrets\0' })}`, 400],
    [`continue=${token({ v: key, rv: 1, start: {} })}`, 400],
    [`continue=${token({ v: key, rv: 999_999, start: 'a\0' })}`, 400],
    [`continue=${'A'.repeat(10_000)}`, 400],
    ['resourceVersion=x', 400],
    ['resourceVersion=-1', 400],
    ['resourceVersion=0x10', 400],
    ['resourceVersion=99999999999999999999', 400],
    ['resourceVersion=1&resourceVersionMatch=Any', 422],
    ['resourceVersionMatch=Exact', 422],
    ['labelSelector=a%20in%20(', 400],
    ['labelSelector=((((', 400],
    ['labelSelector=a,,b', 400],
    ['labelSelector=%00', 400],
    [`labelSelector=a%3D${'b'.repeat(64)}`, 400],
    ['fieldSelector=spec.x%3D1', 400],
    ['fieldSelector=metadata.name', 400],
    ['timeoutSeconds=-1', 400],
    ['sendInitialEvents=true', 422],
    ['watch=1&resourceVersion=x', 400],
    ['watch=1&sendInitialEvents=x', 422],
    ['watch=1&labelSelector=%3D', 400],
    ['watch=1&timeoutSeconds=1e9', 400],
    ['watch=1&resourceVersion=1&resourceVersionMatch=Exact', 422],
  ])('%s is refused', async (query, code) => {
    refused(await send('GET', `${orders}?${query}`), code);
  });

  it('a revision still to come is answered after a while, so that the client asks again', async () => {
    const answer = await send('GET', `${orders}?resourceVersion=999999`);
    expect(refused(answer, 504).message).toContain('Too large resource version: 999999');
  });

  it('what cannot be sent is not acceptable, and what cannot be done is not allowed', async () => {
    for (const accept of ['text/html', 'garbage', ';;;', 'application/json;as=Foo;g=meta.k8s.io;v=v1']) {
      refused(await send('GET', orders, { headers: { accept } }), 406);
    }
    for (const method of ['PUT', 'PATCH']) refused(await send(method, orders, { body: '{}' }), 400);
    for (const method of ['PROPFIND', 'OPTIONS']) refused(await send(method, orders, { body: '{}' }), 405);
    refused(await send('POST', `${orders}/target`, { body: '{}' }), 405);
    refused(await send('GET', orders, { headers: { authorization: 'Bearer nobody' } }), 401);
    refused(await send('GET', orders, { headers: { authorization: 'Basic eDp5' } }), 401);
  });

  it.each<[unknown, number]>([
    [5, 400],
    [{ kind: 'Order' }, 400],
    [{ propagationPolicy: 'x' }, 422],
    [{ propagationPolicy: 5 }, 422],
    [{ preconditions: 5 }, 400],
    [{ preconditions: { uid: 5 } }, 400],
    [{ preconditions: { uid: 'x' } }, 409],
    [{ preconditions: { resourceVersion: 'x' } }, 409],
    [{ dryRun: ['x'] }, 422],
    [{ dryRun: 'All' }, 400],
    [{ orphanDependents: true, propagationPolicy: 'Orphan' }, 422],
  ])('to delete with %j is refused', async (options, code) => {
    refused(await send('DELETE', `${orders}/target`, { body: JSON.stringify(options) }), code);
  });
});

describe('connections', () => {
  const head = (method: string, path: string) =>
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${api.token}\r\nContent-Type: application/json\r\n`;

  it.each([
    ['no HTTP', () => '\x00\x01garbage\r\n\r\n', '400'],
    ['HTTP/2 without asking', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', '400'],
    ['a header of 100 kB', () => `${head('GET', '/version')}X-A: ${'a'.repeat(100_000)}\r\n\r\n`, '431'],
    [
      'two lengths',
      () => `${head('POST', orders)}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      '400',
    ],
    ['a broken chunk', () => `${head('POST', orders)}Transfer-Encoding: chunked\r\n\r\nZZ\r\n`, '400'],
  ])('%s is refused', async (_what, bytes, code) => {
    expect(await rawBytes(api, bytes())).toMatch(new RegExp(`^HTTP/1.1 ${code} `));
  });

  it('a client that stops sending half-way is let go', async () => {
    const bytes = `${head('POST', orders)}Content-Length: 200\r\n\r\n{"a"`;
    await rawBytes(api, bytes, { halfClose: true });
  });

  it('a client that sends its request and nothing more is answered', async () => {
    const text = await rawBytes(api, `${head('GET', `${orders}/target`)}\r\n`, { halfClose: true });
    expect(text).toMatch(/^HTTP\/1.1 200 /);
  });

  it('many that send their head or body a byte at a time do not keep others from being served', async () => {
    const slow = await Promise.all(
      many(60, async (at) => {
        const socket = tls.connect({ host: '127.0.0.1', port: api.port, ca: api.ca });
        socket.on('error', () => undefined);
        await once(socket, 'secureConnect');
        const bytes =
          at % 2 ? head('GET', orders) : `${head('POST', orders)}Content-Length: 90000\r\n\r\n{"a`;
        socket.write(bytes.slice(0, at % 2 ? 40 : undefined));
        return socket;
      }),
    );
    expect((await send('GET', `${orders}/target`)).code).toBe(200);
    for (const socket of slow) socket.destroy();
  });

  it('200 idle watches dropped at once leave nothing behind', async () => {
    const before = api.watches();
    const watching = await Promise.all(
      many(200, async () => {
        const socket = tls.connect({ host: '127.0.0.1', port: api.port, ca: api.ca });
        await once(socket, 'secureConnect');
        socket.write(`${head('GET', `${orders}?watch=1&resourceVersion=1`)}\r\n`);
        await once(socket, 'data');
        return socket;
      }),
    );
    expect(api.watches()).toBe(before + 200);
    for (const socket of watching) socket.destroy();
    await eventually('the watches to end', 10_000, () => expect(api.watches()).toBe(before));
  });

  it('clients that leave in the middle of a list leave nothing behind', async () => {
    const big = 'x'.repeat(200_000);
    const made = many(12, (at) =>
      post(order({ artifacts: [{ ...artifact, spec: { big } }] }, { name: `big-${at}` })),
    );
    for (const answer of await Promise.all(made)) expect(answer.code).toBe(201);
    await Promise.all(
      many(20, async () => {
        const text = await rawBytes(api, `${head('GET', orders)}\r\n`, { until: 'OrderList' });
        expect(text).toMatch(/^HTTP\/1.1 200 /);
      }),
    );
    expect((await send('GET', `${orders}?limit=1`)).code).toBe(200);
  });
});

describe('anything', () => {
  const kinds = [
    ['arc.opendefense.cloud/v1alpha1', 'Order', 'orders'],
    ['arc.opendefense.cloud/v1alpha1', 'Endpoint', 'endpoints'],
    ['arc.opendefense.cloud/v1alpha1', 'ArtifactType', 'artifacttypes'],
    ['argoproj.io/v1alpha1', 'Workflow', 'workflows'],
    ['v1', 'Secret', 'secrets'],
  ] as const;
  const words = [
    ...[
      'artifacts',
      'srcRef',
      'dstRef',
      'name',
      'type',
      'spec',
      'defaults',
      'cron',
      'schedules',
      'retry',
      'limit',
    ],
    ...[
      'remoteURL',
      'usage',
      'tls',
      'secretRef',
      'rules',
      'srcTypes',
      'parameters',
      'value',
      'workflowTemplateRef',
    ],
    ...[
      'data',
      'stringData',
      'templates',
      'entrypoint',
      'arguments',
      'ttl',
      'status',
      '__proto__',
      'constructor',
    ],
  ];
  const field = fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...words) }, fc.string({ maxLength: 5 }));
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 5, depthSize: 'small' },
      fc.oneof(
        fc.string(),
        fc.double(),
        fc.boolean(),
        fc.constant(null),
        fc.constantFrom('{{x}}', '0', '-1s', 'a b'),
      ),
      fc.array(tie('tree'), { maxLength: 3 }),
      fc.dictionary(field, tie('tree'), { maxKeys: 4 }),
    ),
  }));
  const meta = fc.oneof(
    tree,
    fc.dictionary(fc.constantFrom('labels', 'annotations', 'finalizers', 'uid'), tree),
  );

  const settled = (answer: Answer, codes: number[]) => {
    expect(codes).toContain(answer.code);
    if (answer.code >= 400) refused(answer, answer.code);
  };

  it.each(kinds)(
    'that is posted or patched as %s %s gets an answer that fits',
    async (apiVersion, kind, plural) => {
      const path = `${apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`}/namespaces/default/${plural}`;
      await fc.assert(
        fc.asyncProperty(tree, tree, meta, async (spec, rest, metadata) => {
          const named = {
            generateName: 'fuzz-',
            ...(typeof metadata === 'object' ? metadata : { labels: metadata }),
          };
          const others = typeof rest === 'object' ? rest : {};
          const body = JSON.stringify({ ...others, spec, apiVersion, kind, metadata: named });
          settled(await send('POST', path, { body }), [201, 400, 422]);
          const type = 'application/merge-patch+json';
          const target = `${path}/${kind === 'Order' ? 'target' : 'absent'}?dryRun=All`;
          settled(await send('PATCH', target, { body, type }), [200, 400, 404, 409, 422]);
        }),
        { numRuns: 60 },
      );
    },
  );

  it('in a query gets an answer that fits', async () => {
    const names = [
      'limit',
      'continue',
      'resourceVersion',
      'resourceVersionMatch',
      'labelSelector',
      'fieldSelector',
    ];
    const parameter = fc.tuple(
      fc.constantFrom(...names, 'pretty', 'watch', 'sendInitialEvents', 'allowWatchBookmarks'),
      fc.oneof(
        fc.string(),
        fc.string({ unit: 'binary' }),
        fc.constantFrom('1', 'true', 'a=b', 'a in (b)', 'Exact', '0'),
      ),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(parameter, { maxLength: 3 }), async (parameters) => {
        const query = new URLSearchParams([['timeoutSeconds', '1'], ...parameters]);
        // A watch that is granted lasts its second: enough of those are elsewhere.
        if (query.get('watch')) query.set('resourceVersion', 'x');
        settled(await send('GET', `${orders}?${query}`), [200, 400, 410, 422, 504]);
      }),
      { numRuns: 150 },
    );
  });
});
