import { once } from 'node:events';
import { createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { classifyAnswer, readBounded } from './answer.ts';

const nothing = Buffer.alloc(0);
const event = { 'ce-id': '1', 'ce-source': '/s', 'ce-specversion': '1.0', 'ce-type': 't' };

describe('classifyAnswer', () => {
  it.each([200, 202, 204])('takes an empty %i for done', (status) => {
    expect(classifyAnswer(status, {}, nothing)).toEqual({ kind: 'done', reply: undefined });
  });

  it('takes an event for a reply, with data or without', () => {
    expect(classifyAnswer(200, event, Buffer.from('x'))).toMatchObject({
      kind: 'done',
      reply: { attributes: { id: '1' } },
    });
    expect(classifyAnswer(200, event, nothing)).toMatchObject({
      kind: 'done',
      reply: { attributes: { id: '1' } },
    });
  });

  it('takes no reply from a 202', () => {
    expect(classifyAnswer(202, event, Buffer.from('x'))).toEqual({ kind: 'done', reply: undefined });
  });

  it('makes any other body a 502', () => {
    expect(classifyAnswer(200, {}, Buffer.from('{"ok":true}'))).toMatchObject({
      retry: true,
      status: 502,
    });
    const broken = { 'content-type': 'application/cloudevents+json' };
    expect(classifyAnswer(200, broken, Buffer.from('{'))).toMatchObject({ retry: true, status: 502 });
  });

  it.each([404, 408, 409, 429, 500, 502, 503, 504])('retries %i', (status) => {
    expect(classifyAnswer(status, {}, nothing)).toMatchObject({
      kind: 'failed',
      retry: true,
      status,
    });
  });

  it.each([301, 302, 400, 401, 403, 405, 410, 413, 422])('does not retry %i', (status) => {
    expect(classifyAnswer(status, {}, nothing)).toMatchObject({
      kind: 'failed',
      retry: false,
      status,
    });
  });
});

describe('readBounded', () => {
  const body = async (text: string, length = text.length): Promise<IncomingMessage> => {
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-length': length }).write(text, () => response.destroy());
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const asked = get({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', agent: false });
    const [answer] = (await once(asked, 'response')) as [IncomingMessage];
    server.close();
    return answer;
  };

  it('reads up to the limit and refuses more', async () => {
    expect((await readBounded(await body('12345'), 5)).toString()).toBe('12345');
    await expect(readBounded(await body('12345'), 4)).rejects.toMatchObject({
      code: 'RequestEntityTooLarge',
    });
  });

  it('rejects where the connection ends too early', async () => {
    await expect(readBounded(await body('12345', 6), 9)).rejects.toThrow('aborted');
  });
});
