import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { deafServer, silentServer } from '../../../test/fixtures/http/black-hole.ts';
import { classify, createDelivery } from './delivery.ts';

describe('classify', () => {
  it.each([200, 202, 204])('%i is delivered', (status) => {
    expect(classify(status)).toEqual({ result: 'delivered' });
  });

  it.each([401, 403, 404, 408, 409, 425, 429, 500, 502, 503, 504])('%i is transient', (status) => {
    expect(classify(status).result).toBe('transient');
  });

  it.each([301, 400, 413, 422])('%i is a refusal', (status) => {
    expect(classify(status).result).toBe('refused');
  });

  it('respects Retry-After in seconds, up to five minutes', () => {
    expect(classify(429, '7')).toMatchObject({ retryAfterMs: 7000 });
    expect(classify(503, '999999')).toMatchObject({ retryAfterMs: 300_000 });
    expect(classify(503, 'soon')).not.toHaveProperty('retryAfterMs');
  });
});

describe('createDelivery', () => {
  const closers: (() => void)[] = [];
  afterEach(() => {
    for (const close of closers.splice(0)) close();
  });

  async function serve(status: number): Promise<{ url: URL; seen: string[] }> {
    const seen: string[] = [];
    const server = createServer((request, response) => {
      request.on('data', (chunk: Buffer) => seen.push(`${request.headers['ce-id']}:${chunk.toString()}`));
      request.on('end', () => response.writeHead(status).end());
    });
    closers.push(() => server.close());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`), seen };
  }

  it('posts headers and body', async () => {
    const { url, seen } = await serve(202);
    const deliver = createDelivery({ url }, new AbortController().signal);
    expect(await deliver({ headers: { 'ce-id': 'x' }, body: '{}' })).toEqual({ result: 'delivered' });
    expect(seen).toEqual(['x:{}']);
  });

  it('reports no answer as transient, with the cause', async () => {
    const deliver = createDelivery({ url: new URL('http://127.0.0.1:1/') }, new AbortController().signal);
    const outcome = await deliver({ headers: {}, body: '' });
    expect(outcome).toMatchObject({ result: 'transient' });
    expect(outcome).toHaveProperty('reason', expect.stringContaining('did not answer'));
  });

  it.each([
    ['does not answer the connect', 'http', deafServer],
    ['accepts and does not answer the TLS handshake', 'https', silentServer],
  ] as const)('gives up within seconds on a broker that %s', async (_, scheme, start) => {
    const hole = await start();
    try {
      const url = new URL(`${scheme}://127.0.0.1:${hole.port}/`);
      const began = performance.now();
      const outcome = await createDelivery({ url }, new AbortController().signal)({ headers: {}, body: '' });
      expect(outcome).toEqual({
        result: 'transient',
        reason: `the broker did not answer: no connection to 127.0.0.1:${hole.port} within 2 s (TLS handshake included)`,
      });
      expect(performance.now() - began).toBeLessThan(10_000);
    } finally {
      await hole.close();
    }
  });
});
