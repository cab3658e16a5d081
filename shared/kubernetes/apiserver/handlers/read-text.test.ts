import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { gadgets, group, startTestServer, type TestServer } from '../testing/test-server.ts';

const asked: string[] = [];
let server: TestServer;
beforeAll(async () => {
  server = await startTestServer({
    async authorize(_user, attributes) {
      if ('resource' in attributes) {
        const { verb, resource, subresource } = attributes;
        asked.push(`${verb} ${resource}/${subresource}`);
      }
      return { allowed: true };
    },
  });
  for (const name of ['a', 'done'])
    await server.call('POST', gadgets, { apiVersion: `${group}/v1`, kind: 'Gadget', metadata: { name } });
});
afterAll(() => server.close());

describe('a subresource that is a text', () => {
  it('is read as it is, by whoever may get it', async () => {
    const { status, headers, text } = await server.call('GET', `${gadgets}/a/note`, undefined, {
      accept: 'application/json, */*',
    });
    expect([status, text]).toEqual([200, 'note of a\n']);
    expect(headers.get('content-type')).toContain('text/plain');
    expect(asked.at(-1)).toBe('get gadgets/note');
  });

  it('is read while it is written, until the reader leaves', async () => {
    const leaving = new AbortController();
    const { body, headers } = await server.fetch(`${gadgets}/a/note?follow=true`, { signal: leaving.signal });
    expect(headers.get('content-type')).toContain('text/plain');
    const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
    expect(await reader?.read()).toEqual({ done: false, value: 'note of a\n' });
    leaving.abort();
    expect(await reader?.read()).toMatchObject({ done: true });
    expect((await server.call('GET', `${gadgets}/done/note?follow=true`)).text).toBe('note of done\n');
    expect((await server.call('GET', `${gadgets}/a/note?follow=true&wrong=1`)).status).toBe(400);
  });

  it('is refused with a Status', async () => {
    expect((await server.call('GET', `${gadgets}/a/note?wrong=1`)).body).toMatchObject({
      reason: 'BadRequest',
    });
    expect((await server.call('GET', `${gadgets}/none/note`)).body).toMatchObject({ reason: 'NotFound' });
    expect((await server.call('POST', `${gadgets}/a/note`, {})).body).toMatchObject({
      reason: 'MethodNotAllowed',
    });
  });

  it('is discovered', async () => {
    const { body } = await server.call('GET', `/apis/${group}/v1`);
    expect(body.resources).toContainEqual(expect.objectContaining({ name: 'gadgets/note', verbs: ['get'] }));
  });
});
