import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { createTransport, serverAddress } from './transport.ts';

const base = { server: 'http://127.0.0.1:1/prefix/', userAgent: 'unit' };

function failing(error: unknown) {
  return createTransport({ ...base, fetch: () => Promise.reject(error) }).send({
    method: 'GET',
    path: '/x?a=b',
  });
}

describe('createTransport', () => {
  it('keeps the path prefix of the server, and is anonymous without a token', async () => {
    const asked: { url: unknown; headers: Headers }[] = [];
    const transport = createTransport({
      ...base,
      fetch: async (url, init) => {
        asked.push({ url, headers: new Headers(init?.headers) });
        return Response.json({});
      },
    });
    await transport.send({ method: 'GET', path: '/api' });
    expect(asked[0]?.url).toBe('http://127.0.0.1:1/prefix/api');
    expect(asked[0]?.headers.has('authorization')).toBe(false);
  });

  it('finds the reason in the cause of a failed fetch, even without a message', async () => {
    const refused = new TypeError('fetch failed', { cause: new Error('connect ECONNREFUSED') });
    await expect(failing(refused)).rejects.toThrow(/GET \/x: .*: connect ECONNREFUSED$/);
    const both = new TypeError('fetch failed', {
      cause: Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }),
    });
    await expect(failing(both)).rejects.toThrow(/: ECONNREFUSED$/);
    await expect(failing('odd')).rejects.toMatchObject({ code: 'ServiceUnavailable' });
  });

  it('passes on the reason why there is no token', async () => {
    const token = () => Promise.reject(new ArcError('ServiceUnavailable', 'no token yet'));
    const transport = createTransport({ ...base, token });
    await expect(transport.send({ method: 'GET', path: '/x' })).rejects.toThrow('no token yet');
  });
});

describe('serverAddress', () => {
  it.each([
    ['https://10.0.0.1:443', 'https://10.0.0.1'],
    ['http://127.0.0.1:8001/', 'http://127.0.0.1:8001'],
    ['https://host/k8s/clusters/c1/', 'https://host/k8s/clusters/c1'],
  ])('takes %s', (given, expected) => {
    expect(serverAddress(given)).toBe(expected);
  });

  it.each(['', 'host:443', 'ftp://host', 'https://user:secret@host'])(
    'refuses %j without repeating it',
    (given) => {
      expect(() => serverAddress(given)).toThrow(
        expect.not.objectContaining({ message: expect.stringMatching(/secret/) }),
      );
      expect(() => serverAddress(given)).toThrow(/API server/);
    },
  );
});
