import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import type { KubeObject } from '#shared/base/meta';
import type { Kind } from './client.ts';
import { sharedReads } from './shared-reads.ts';
import { FakeApi } from './testing/fake-api/fake-api.ts';

const pods: Kind = { apiVersion: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
const namespace = 'n';

function pod(name: string, set?: string): KubeObject {
  const labels = set === undefined ? {} : { labels: { set } };
  return { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace, ...labels } };
}

function setUp() {
  const api = new FakeApi([pod('a', 'x'), pod('b', 'y'), pod('c', 'y'), pod('d')]);
  const client = sharedReads(api.client);
  const asked = () =>
    api.requests.map(({ verb, name }) => (name === undefined || name === '' ? verb : `${verb} ${name}`));
  const get = async (name: string, set?: string) =>
    (await client.get(pods, { namespace, name, among: set && `set=${set}` }))?.metadata.name;
  const list = async (labelSelector: string) =>
    (await client.list(pods, { namespace, labelSelector })).items.map(({ metadata }) => metadata.name);
  return { api, client, asked, get, list };
}

describe('shared reads', () => {
  it('coalesce identical concurrent reads', async () => {
    const { asked, get, client } = setUp();
    expect(await Promise.all([get('a'), get('a'), get('none'), get('none')])).toEqual([
      'a',
      'a',
      undefined,
      undefined,
    ]);
    const lists = await Promise.all([client.list(pods, { namespace }), client.list(pods, { namespace })]);
    lists[0]?.items.pop();
    expect(lists[1]?.items).toHaveLength(4);
    expect(asked().toSorted()).toEqual(['get a', 'get none', 'list']);
  });

  it('never return the response of a request that began before the read', async () => {
    const { api, client } = setUp();
    const phases: unknown[] = [];
    const read = async () => {
      const found = await client.get(pods, { namespace, name: 'a' });
      phases.push(found?.status);
    };
    let later: Promise<void> | undefined;
    api.before = () => {
      api.before = () => undefined;
      // The first request is on its way: what happens now is news to whoever asks after it.
      queueMicrotask(() => {
        api.put({ ...pod('a', 'x'), status: 'new' });
        later = read();
      });
    };
    await read();
    await later;
    expect(phases[1]).toBe('new');
    expect(api.requests).toHaveLength(2);
  });

  it('become one list for several label values, and for gets with a hint', async () => {
    const { asked, get, list } = setUp();
    expect(await Promise.all([list('set=x'), list('set=y'), list('set=z'), list('set=y')])).toEqual([
      ['a'],
      ['b', 'c'],
      [],
      ['b', 'c'],
    ]);
    expect(asked()).toEqual(['list']);
    expect(await Promise.all([get('a', 'x'), get('c', 'y')])).toEqual(['a', 'c']);
    expect(asked()).toEqual(['list', 'list']);
  });

  it('get a single object, or one that its hint does not match, by name', async () => {
    const { asked, get } = setUp();
    expect(await get('a', 'x')).toBe('a');
    expect(asked()).toEqual(['get a']);
    expect(await Promise.all([get('a', 'x'), get('d', 'y'), get('none', 'y')])).toEqual([
      'a',
      'd',
      undefined,
    ]);
    expect(asked().toSorted()).toEqual(['get a', 'get d', 'get none', 'list']);
  });

  it('leave other selectors as they are', async () => {
    const { asked, list } = setUp();
    expect(await Promise.all([list('set in (x,y)'), list('set!=x'), list('set')])).toEqual([
      ['a', 'b', 'c'],
      ['b', 'c', 'd'],
      ['a', 'b', 'c'],
    ]);
    expect(asked()).toHaveLength(3);
  });

  it('reject all readers on failure, and a single reader on its deadline', async () => {
    const { api, get, client } = setUp();
    api.before = () => {
      throw new ArcError('TooManyRequests', 'later');
    };
    const ends = await Promise.allSettled([get('a'), get('a')]);
    expect(ends.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    api.before = () => undefined;
    const over = AbortSignal.abort(new ArcError('Timeout', 'too late'));
    const late = client.get(pods, { namespace, name: 'a' }, over);
    await expect(late).rejects.toThrow('too late');
    expect(await get('a')).toBe('a');
  });
});
