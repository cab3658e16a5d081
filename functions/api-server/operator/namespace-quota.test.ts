import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { randomIntegers } from '#shared/base/testing';
import { arcKinds, namespaceLimits, parseSettings } from '#shared/domain';
import { type Answer, type ArcServer, startArcServer } from '../testing/arc-server.ts';

const apiVersion = 'arc.opendefense.cloud/v1alpha1';
const namespaces = `/apis/${apiVersion}/namespaces`;
const applyType = 'application/apply-patch+yaml';

let server: ArcServer;
let settings: Record<string, string>;
let user: string;
beforeEach(async () => {
  settings = {};
  user = 'jo';
  server = await startArcServer({
    settings: () => parseSettings(settings).settings,
    now: () => new Date('2026-01-02T03:04:05Z'),
    authenticate: async () => ({ name: user, groups: [] }),
  });
});
afterEach(() => server.close());

const sides = { srcRef: { name: 'a' }, dstRef: { name: 'b' } };
const order = (name: string, spec: object = {}, metadata: object = {}) => ({
  apiVersion,
  kind: 'Order',
  metadata: { name, ...metadata },
  spec: { defaults: sides, ...spec },
});
const ofKind: Record<string, (name: string) => object> = {
  orders: (name) => order(name),
  endpoints: (name) => ({
    apiVersion,
    kind: 'Endpoint',
    metadata: { name },
    spec: { type: 'oci', remoteURL: 'https://a.example' },
  }),
  artifacttypes: (name) => ({
    apiVersion,
    kind: 'ArtifactType',
    metadata: { name },
    spec: { workflowTemplateRef: { name: 't' } },
  }),
  artifactworkflows: (name) => ({
    apiVersion,
    kind: 'ArtifactWorkflow',
    metadata: { name },
    spec: { workflowTemplateRef: { name: 't' } },
  }),
};
const settingOf = (plural: string, measure: string) =>
  namespaceLimits(plural, {}).find((limit) => limit.measure === measure)?.setting ?? '';
const create = (name: string, more: object = {}) =>
  server.call('POST', `${namespaces}/team/orders`, order(name, {}, more));
const statuses = async (...answers: Promise<Answer>[]) =>
  (await Promise.all(answers)).map(({ status }) => status);
const annotated = (length: number) => ({ annotations: { 'example.com/note': 'x'.repeat(length) } });
const storedBytes = async (plural: string) => {
  const { items } = await server.store.list(`/registry/arc.opendefense.cloud/${plural}/team/`);
  return items.reduce((sum, { value }) => sum + value.byteLength, 0);
};

describe('what a namespace may hold', () => {
  it('is limited for every kind that has namespaces, without any setting', () => {
    for (const { plural, scope } of arcKinds)
      expect([plural, namespaceLimits(plural, {}).length]).toEqual([plural, scope === 'Namespaced' ? 2 : 0]);
  });

  it.each(Object.keys(ofKind))('limits the number of %s, and names limit and use', async (plural) => {
    settings[settingOf(plural, 'objects')] = '1';
    const make = (name: string, namespace = 'team') =>
      server.call('POST', `${namespaces}/${namespace}/${plural}`, ofKind[plural]?.(name));
    expect((await make('one')).status).toBe(201);
    const { status, body } = await make('two');
    const resource = `count/${plural}.arc.opendefense.cloud`;
    expect([status, body.reason, body.message]).toEqual([
      ...[403, 'Forbidden'],
      `${plural}.arc.opendefense.cloud "two" is forbidden: exceeded quota: arc-settings, requested: ${resource}=1, used: ${resource}=1, limited: ${resource}=1 (${settingOf(plural, 'objects')} of the operator's settings)`,
    ]);
    expect((await make('two', 'other')).status).toBe(201);
  });

  it.each(Object.keys(ofKind))('limits the bytes of %s', async (plural) => {
    const make = (name: string) =>
      server.call('POST', `${namespaces}/team/${plural}`, ofKind[plural]?.(name));
    expect((await make('one')).status).toBe(201);
    const used = await storedBytes(plural);
    settings[settingOf(plural, 'bytes')] = String(used + 10);
    const { status, body } = await make('two');
    expect([status, body.message]).toEqual([
      403,
      expect.stringContaining(`used: bytes/${plural}.arc.opendefense.cloud=${used}, limited: `),
    ]);
  });

  it('is exact when many create at once, with generated names too', async () => {
    settings['limits.ordersPerNamespace'] = '4';
    const found = await statuses(
      ...Array.from({ length: 20 }, (_, index) => create(`order-${index}`)),
      ...Array.from({ length: 20 }, () => create('', { name: undefined, generateName: 'order-' })),
    );
    expect(found.filter((status) => status === 201)).toHaveLength(4);
    expect(new Set(found)).toEqual(new Set([201, 403]));
  });

  it('is the same for an apply that creates, and for a dry run, which takes no place', async () => {
    settings['limits.ordersPerNamespace'] = '1';
    const apply = (name: string, query = '') =>
      server.call(
        'PATCH',
        `${namespaces}/team/orders/${name}?fieldManager=test${query}`,
        order(name),
        applyType,
      );
    const dryRun = () => server.call('POST', `${namespaces}/team/orders?dryRun=All`, order('dry'));
    expect(await statuses(dryRun(), dryRun(), apply('dry', '&dryRun=All'))).toEqual([201, 201, 201]);
    expect((await apply('one')).status).toBe(201);
    expect((await apply('one')).status).toBe(200);
    expect(await statuses(dryRun(), apply('two'), apply('two', '&dryRun=All'))).toEqual([403, 403, 403]);
    await server.call('DELETE', `${namespaces}/team/orders/one`);
    expect((await apply('two')).status).toBe(201);
  });

  it('leaves a full namespace the answer that an object exists already', async () => {
    settings['limits.ordersPerNamespace'] = '1';
    await create('there');
    expect((await create('there')).body.reason).toBe('AlreadyExists');
    expect((await server.call('POST', `${namespaces}/team/orders?dryRun=All`, order('there'))).status).toBe(
      409,
    );
  });

  it('is counted as a recount would, after any writes at once, of users and of functions', async () => {
    const random = randomIntegers();
    const lane = async () => {
      for (let turn = 0; turn < 40; turn += 1) {
        const at = `${namespaces}/team/orders/o-${random(0, 12)}`;
        const metadata = annotated(random(0, 3_000));
        const apply = () =>
          server.call(
            'PATCH',
            `${at}?fieldManager=a`,
            order(at.split('/').at(-1) ?? '', {}, metadata),
            applyType,
          );
        const writes = [
          () => create(`o-${random(0, 12)}`, metadata),
          () => server.call('PATCH', at, { metadata }),
          () => server.call('PATCH', `${at}/status`, { status: { message: 'm'.repeat(random(0, 500)) } }),
          () => server.call('POST', `${at}/force`, {}),
          () => server.call('DELETE', at),
          apply,
        ];
        await writes[random(0, writes.length)]?.();
      }
    };
    await Promise.all(Array.from({ length: 8 }, lane));
    settings['limits.ordersPerNamespace'] = '0';
    settings['limits.orderBytesPerNamespace'] = '0';
    const { items } = await server.store.list('/registry/arc.opendefense.cloud/orders/team/');
    const [bytes, count] = ['bytes', 'count'].map((measure) => `${measure}/orders.arc.opendefense.cloud`);
    expect((await create('one-more')).body.message).toContain(
      `used: ${bytes}=${await storedBytes('orders')},${count}=${items.length}, limited: ${bytes}=0,${count}=0`,
    );
  });

  it('survives a restart of the server: a limit that is reached stays reached', async () => {
    settings['limits.ordersPerNamespace'] = '3';
    await statuses(...[1, 2, 3].map((index) => create(`order-${index}`)));
    await server.restart();
    expect((await create('more')).body.message).toContain('used: count/orders.arc.opendefense.cloud=3,');
  });
});

describe('in a namespace that holds all the bytes it may', () => {
  const at = `${namespaces}/team/orders/full`;
  beforeEach(async () => {
    const metadata = { ...annotated(1_000), finalizers: ['example.com/hold'] };
    expect((await create('full', metadata)).status).toBe(201);
    settings['limits.orderBytesPerNamespace'] = '1';
  });
  const patch = (body: object, query = '') => server.call('PATCH', `${at}${query}`, body);

  it('an update that makes an object larger is refused, however it is sent', async () => {
    const more = { metadata: annotated(5_000) };
    expect(await statuses(patch(more), patch(more, '?dryRun=All'))).toEqual([403, 403]);
    const { body } = await server.call('GET', at);
    const larger = { ...body, metadata: { ...body.metadata, ...annotated(1_100) } };
    expect(await statuses(server.call('PUT', at, larger))).toEqual([403]);
    const applied = order('full', {}, annotated(9_000));
    const force = `${at}?fieldManager=test&force=true`;
    expect(await statuses(server.call('PATCH', force, applied, applyType))).toEqual([403]);
    expect((await server.call('GET', at)).body.metadata.resourceVersion).toBe(body.metadata.resourceVersion);
  });

  it('one that is being deleted may not grow either, since its finalizer keeps it there', async () => {
    expect((await server.call('DELETE', at)).status).toBe(200);
    expect((await patch({ metadata: annotated(5_000) })).status).toBe(403);
  });

  it('everything goes on that makes nothing larger: edits, status, actions, finalizers, deletion', async () => {
    expect((await patch({ spec: { suspend: null } })).status).toBe(200);
    // The first edit of another client adds an entry to managedFields, and the generation a digit.
    const edited = { metadata: annotated(900), spec: { defaults: { ...sides, srcRef: { name: 'c' } } } };
    for (let turn = 0; turn < 12; turn += 1)
      expect(
        (
          await patch(
            { ...edited, spec: { defaults: { srcRef: { name: turn % 2 ? 'c' : 'd' } } } },
            `?fieldManager=editor-${turn % 3}`,
          )
        ).status,
      ).toBe(200);
    const status = { status: { message: 'm'.repeat(2_000) } };
    expect((await server.call('PATCH', `${at}/status`, status)).status).toBe(200);
    for (const action of ['force', 'retry', 'cancel'])
      expect((await server.call('POST', `${at}/${action}`, {})).status).toBe(201);
    expect((await server.call('DELETE', at)).status).toBe(200);
    expect((await patch({ metadata: { finalizers: null } })).status).toBe(200);
    expect((await server.call('GET', at)).status).toBe(404);
  });

  it("ARC's own accounts write their finalizers and notes, and create nothing", async () => {
    const finalizers = { metadata: { finalizers: ['example.com/hold', 'arc.opendefense.cloud/children'] } };
    expect((await patch(finalizers)).status).toBe(403);
    user = 'system:serviceaccount:arc-system:decompose-order';
    expect((await patch(finalizers)).status).toBe(200);
    expect((await create('another')).status).toBe(403);
    user = 'system:serviceaccount:arc-system-2:decompose-order';
    expect((await patch({ metadata: annotated(5_000) })).status).toBe(403);
  });

  it('managedFields do not grow for free without end', async () => {
    const wide = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`example.com/${index}`, 'x']));
    delete settings['limits.orderBytesPerNamespace'];
    expect((await patch({ metadata: { annotations: wide } })).status).toBe(200);
    settings['limits.orderBytesPerNamespace'] = '1';
    const applied = order('full', {}, { annotations: wide });
    const outcomes: number[] = [];
    for (let turn = 0; turn < 12; turn += 1) {
      const path = `${at}?fieldManager=m-${turn}&force=true`;
      outcomes.push((await server.call('PATCH', path, applied, applyType)).status);
    }
    expect(outcomes.at(0)).toBe(200);
    expect(outcomes.at(-1)).toBe(403);
  });
});

describe('one user who fills the store', () => {
  /** Sends `bytes`, or until five batches in a row were refused. @returns what was stored of them, and the last answer. */
  async function fill(plural: string, bytes: number) {
    const size = 250 * 1024;
    let refusals = 0;
    let last: Answer | undefined;
    for (let sent = 0; sent * size < bytes && refusals < 5; sent += 8) {
      const one = (index: number) => {
        const object = ofKind[plural]?.(`x-${sent + index}`) as { metadata: object };
        return server.call('POST', `${namespaces}/team/${plural}`, {
          ...object,
          metadata: { ...object.metadata, ...annotated(size) },
        });
      };
      const answers = await Promise.all(Array.from({ length: 8 }, (_, index) => one(index)));
      refusals = answers.every(({ status }) => status === 403) ? refusals + 1 : 0;
      last = answers.at(-1);
    }
    return { last, bytes: await storedBytes(plural) };
  }
  const mebibyte = 1024 * 1024;

  it('with 132 MiB of Orders is refused at 64 MiB', { timeout: 60_000 }, async () => {
    const { bytes, last } = await fill('orders', 132 * mebibyte);
    expect(last).toMatchObject({
      status: 403,
      body: { message: expect.stringContaining('limited: bytes/orders') },
    });
    expect(bytes).toBeLessThanOrEqual(64 * mebibyte);
    expect(bytes).toBeGreaterThan(63 * mebibyte);
  });

  it('with 184 MiB of annotated Endpoints is refused at 16 MiB', { timeout: 60_000 }, async () => {
    const { bytes, last } = await fill('endpoints', 184 * mebibyte);
    expect(last).toMatchObject({ status: 403 });
    expect(bytes).toBeLessThanOrEqual(16 * mebibyte);
  });

  it('by writing one Order again and again gets 429 with the time to wait, and stops nobody else', async () => {
    settings['limits.bytesWrittenPerMinute'] = '4Mi';
    await create('small');
    await create('rewritten', annotated(250 * 1024));
    const rewrite = (turn: number) => {
      const note = String(turn).padEnd(250 * 1024, 'x');
      const body = { metadata: { annotations: { 'example.com/note': note } } };
      return server.call('PATCH', `${namespaces}/team/orders/rewritten`, body);
    };
    const answers: Answer[] = [];
    for (let turn = 0; turn < 20; turn += 1) answers.push(await rewrite(turn));
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThan(16);
    expect(answers.at(-1)).toMatchObject({
      status: 429,
      body: {
        message: expect.stringContaining(
          'may write 4194304 bytes per minute (limits.bytesWrittenPerMinute of',
        ),
        details: { retryAfterSeconds: expect.any(Number) },
      },
    });
    // Actions write the whole object, too; status and deletion are free, as is what changes nothing.
    expect((await server.call('POST', `${namespaces}/team/orders/rewritten/force`, {})).status).toBe(429);
    const at = `${namespaces}/team/orders/rewritten`;
    expect((await server.call('PATCH', `${at}/status`, { status: { message: 'm' } })).status).toBe(200);
    expect((await server.call('PATCH', at, { spec: {} })).status).toBe(200);
    const dryRun = { spec: { suspend: true } };
    expect((await server.call('PATCH', `${at}?dryRun=All`, dryRun)).status).toBe(200);
    const elsewhere = order('one', {}, annotated(250 * 1024));
    expect((await server.call('POST', `${namespaces}/other/orders`, elsewhere)).status).toBe(201);
    user = 'system:serviceaccount:arc-system:decompose-order';
    expect((await rewrite(100)).status).toBe(200);
    user = 'jo';
    expect((await server.call('DELETE', at)).status).toBe(200);
  });

  it('gets 422 for annotations of more than 256 KiB together, on create and on update', async () => {
    const annotations = Object.fromEntries(
      Array.from({ length: 3 }, (_, index) => [`example.com/${index}`, 'x'.repeat(100 * 1024)]),
    );
    const expected = {
      status: 422,
      body: { details: { causes: [{ field: 'metadata.annotations', reason: 'FieldValueTooLong' }] } },
    };
    expect(await create('large', { annotations })).toMatchObject(expected);
    await create('small');
    const patched = server.call('PATCH', `${namespaces}/team/orders/small`, { metadata: { annotations } });
    expect(await patched).toMatchObject(expected);
  });
});
