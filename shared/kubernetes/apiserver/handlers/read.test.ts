import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  group,
  mergeType,
  startTestServer,
  type TestServer,
  widget,
  widgets,
} from '../testing/test-server.ts';

let server: TestServer;
const names = Array.from({ length: 7 }, (_, index) => `w${index}`);
beforeAll(async () => {
  server = await startTestServer();
  for (const [index, name] of names.entries()) {
    const made = await server.call(
      'POST',
      widgets,
      widget(name, { color: index % 2 ? 'blue' : 'red' }, { labels: { n: String(index) } }),
    );
    expect(made.status).toBe(201);
  }
});
afterAll(() => server.close());

const call: TestServer['call'] = (...given) => server.call(...given);
const namesOf = (body: { items: { metadata: { name: string } }[] }) =>
  body.items.map((item) => item.metadata.name);

describe('list', () => {
  it('returns all objects with their revisions, as GET returns them', async () => {
    const { body } = await call('GET', widgets);
    expect(body).toMatchObject({ apiVersion: `${group}/v1`, kind: 'WidgetList' });
    expect(namesOf(body)).toEqual(names);
    expect(body.items.at(3)).toEqual((await call('GET', `${widgets}/w3`)).body);
    expect(Number(body.metadata.resourceVersion)).toBeGreaterThanOrEqual(
      Number(body.items.at(6)?.metadata.resourceVersion),
    );
  });

  it('is an empty list where there are no objects', async () => {
    const { body } = await call('GET', `/apis/${group}/v1/namespaces/empty/widgets`);
    expect(body.items).toEqual([]);
  });

  it('reads all pages at one revision, even with writes in between', async () => {
    const first = await call('GET', `${widgets}?limit=3`);
    expect(namesOf(first.body)).toEqual(['w0', 'w1', 'w2']);
    expect(first.body.metadata.remainingItemCount).toBe(4);
    await call('POST', widgets, widget('w3a'));
    const token = first.body.metadata.continue;
    const second = await call('GET', `${widgets}?limit=10&continue=${token}`);
    expect(namesOf(second.body)).toEqual(['w3', 'w4', 'w5', 'w6']);
    expect(second.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion);
    expect(second.body.metadata.continue).toBeUndefined();
    await call('DELETE', `${widgets}/w3a`);
  });

  it('offers an inconsistent continuation after the revision of a page is compacted', async () => {
    const first = await call('GET', `${widgets}?limit=3`);
    await call('POST', widgets, widget('later'));
    await call('DELETE', `${widgets}/later`);
    await server.store.compact(await server.store.revision());
    const second = await call('GET', `${widgets}?limit=3&continue=${first.body.metadata.continue}`);
    expect(second.status).toBe(410);
    expect(second.body.reason).toBe('Expired');
    const third = await call('GET', `${widgets}?limit=9&continue=${second.body.metadata.continue}`);
    expect(namesOf(third.body)).toEqual(['w3', 'w4', 'w5', 'w6']);
  });

  it('lists by an indexed label page by page without reading objects with other values', async () => {
    const labelled = (name: string, set: string) =>
      call('POST', widgets, widget(name, {}, { labels: { set } }));
    const by = async (query: string) => (await call('GET', `${widgets}?${query}`)).body;
    expect(namesOf(await by('labelSelector=set%3Da'))).toEqual([]);
    for (const [name, set] of [
      ['s3', 'a'],
      ['s1', 'a'],
      ['s2', 'b'],
      ['s4', 'a'],
    ] as const)
      await labelled(name, set);
    expect(namesOf(await by('labelSelector=set%3Da'))).toEqual(['s1', 's3', 's4']);
    expect(namesOf(await by('labelSelector=set%3Da&fieldSelector=metadata.name!%3Ds3'))).toEqual([
      's1',
      's4',
    ]);
    const listed = vi.spyOn(server.store, 'list');
    const page = await by('labelSelector=set%3Da&limit=2');
    expect(await listed.mock.results[0]?.value).toMatchObject({ items: [{}, {}, {}] });
    listed.mockRestore();
    expect(namesOf(page)).toEqual(['s1', 's3']);
    await call('PATCH', `${widgets}/s4`, { metadata: { labels: { set: 'c' } } }, mergeType);
    expect(namesOf(await by('labelSelector=set%3Da'))).toEqual(['s1', 's3']);
    const rest = await by(`labelSelector=set%3Da&limit=2&continue=${page.metadata.continue}`);
    expect(namesOf(rest)).toEqual(['s4']);
    for (const name of ['s1', 's2', 's3', 's4']) await call('DELETE', `${widgets}/${name}`);
    expect(namesOf(await by('labelSelector=set%3Da'))).toEqual([]);
  });

  it('selects by labels and fields', async () => {
    const by = async (query: string) => namesOf((await call('GET', `${widgets}?${query}`)).body);
    expect(await by('labelSelector=n+in+(1,2),n!%3D2')).toEqual(['w1']);
    expect(await by('fieldSelector=spec.color%3Dblue')).toEqual(['w1', 'w3', 'w5']);
    expect(await by('fieldSelector=metadata.name%3Dw4')).toEqual(['w4']);
    const paged = await call('GET', `${widgets}?limit=2&fieldSelector=spec.color%3Dblue`);
    expect(namesOf(paged.body)).toEqual(['w1', 'w3']);
    expect(paged.body.metadata.remainingItemCount).toBeUndefined();
    expect(
      await by(`limit=2&fieldSelector=spec.color%3Dblue&continue=${paged.body.metadata.continue}`),
    ).toEqual(['w5']);
  });

  it.each([
    ['a label selector that does not parse', 'labelSelector=a%3D%3D%3Db', 400],
    ['a field that cannot be selected by', 'fieldSelector=spec.size%3D1', 400],
    ['a resourceVersion that is no number', 'resourceVersion=abc', 400],
    ['a token from elsewhere', 'continue=abc', 400],
    ['continue with a resourceVersion', 'resourceVersion=1&continue=abc', 400],
    ['a match without a resourceVersion', 'resourceVersionMatch=Exact', 422],
    ['Exact at 0', 'resourceVersion=0&resourceVersionMatch=Exact', 422],
    ['an unknown match', 'resourceVersion=1&resourceVersionMatch=Near', 422],
    ['sendInitialEvents', 'sendInitialEvents=true', 422],
    ['a limit that is no number', 'limit=many', 400],
  ])('refuses %s', async (_what, query, status) => {
    expect((await call('GET', `${widgets}?${query}`)).status).toBe(status);
  });

  it('reads an exact past revision, and ignores limit at revision 0', async () => {
    const { body: now } = await call('GET', widgets);
    const rv = now.metadata.resourceVersion;
    await call('PATCH', `${widgets}/w0`, { metadata: { labels: { n: 'changed' } } }, mergeType);
    const exact = await call('GET', `${widgets}?resourceVersion=${rv}&resourceVersionMatch=Exact`);
    expect(exact.body.items).toEqual(now.items);
    const any = await call('GET', `${widgets}?resourceVersion=0&limit=2`);
    expect(any.body.items).toHaveLength(7);
  });

  it('rejects a future resourceVersion with Timeout', async () => {
    const { status, body, headers } = await call('GET', `${widgets}/w0?resourceVersion=999999`);
    expect(status).toBe(504);
    expect(body.details.causes[0].reason).toBe('ResourceVersionTooLarge');
    expect(headers.get('retry-after')).toBe('1');
  });
});

describe('long lists', () => {
  it('are streamed in chunks of one document', async () => {
    const ns = '/api/v1/namespaces';
    const at = `/apis/${group}/v1/gadgets`;
    expect((await call('GET', ns)).status).toBe(200);
    const gadget = (index: number) => ({
      apiVersion: `${group}/v1`,
      kind: 'Gadget',
      metadata: { name: `g${String(index).padStart(4, '0')}` },
    });
    await Promise.all(Array.from({ length: 1203 }, (_, index) => call('POST', at, gadget(index))));
    const whole = await call('GET', at);
    expect(whole.body.items).toHaveLength(1203);
    expect(new Set(namesOf(whole.body)).size).toBe(1203);
    const filtered = await call('GET', `${at}?fieldSelector=metadata.name!%3Dg0000`);
    expect(filtered.body.items).toHaveLength(1202);
  });
});

describe('representations', () => {
  const accept = (as: string) => ({
    accept: `application/json;as=${as};v=v1;g=meta.k8s.io,application/json`,
  });

  it('are Tables on request', async () => {
    const { body } = await call('GET', `${widgets}?limit=2`, undefined, accept('Table'));
    expect(body.kind).toBe('Table');
    expect(body.rows.map((row: { cells: unknown[] }) => row.cells.slice(0, 2))).toEqual([
      ['w0', 'red'],
      ['w1', 'blue'],
    ]);
    expect(body.metadata.continue).toBeDefined();
    const bad = await call('GET', `${widgets}?includeObject=All`, undefined, accept('Table'));
    expect(bad.status).toBe(400);
  });

  it('are metadata only on request', async () => {
    const list = await call('GET', widgets, undefined, accept('PartialObjectMetadataList'));
    expect(list.body.kind).toBe('PartialObjectMetadataList');
    expect(list.body.items[0].spec).toBeUndefined();
    const one = await call('GET', `${widgets}/w0`, undefined, accept('PartialObjectMetadata'));
    const { metadata } = (await call('GET', `${widgets}/w0`)).body;
    expect(one.body).toEqual({ kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata });
  });

  it('are refused when only protobuf is accepted', async () => {
    const { status, body } = await call('GET', widgets, undefined, {
      accept: 'application/vnd.kubernetes.protobuf',
    });
    expect(status).toBe(406);
    expect(body.kind).toBe('Status');
  });

  it('are indented on request', async () => {
    expect((await call('GET', `${widgets}/w0?pretty=1`)).text).toContain('\n  "kind"');
  });
});
