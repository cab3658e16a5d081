import { once } from 'node:events';
import { createServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Authority, createAuthority } from '../../../shared/base/testing/authority.ts';
import { createPost } from './sink.ts';

describe('createPost over TLS', () => {
  let first: Authority;
  let second: Authority;
  let url: URL;
  let present: (authority: Authority) => Promise<void>;
  const tokens: (string | undefined)[] = [];
  const closers: (() => void)[] = [];
  const { signal } = new AbortController();

  beforeAll(async () => {
    [first, second] = await Promise.all([createAuthority('first'), createAuthority('second')]);
    const server = createServer({}, (request, response) => {
      tokens.push(request.headers.authorization);
      request.resume().on('end', () => response.writeHead(202, { connection: 'close' }).end());
    });
    present = async (authority) => {
      server.setSecureContext(await authority.issue({ name: 'broker' }, { hosts: ['127.0.0.1'] }));
    };
    await present(first);
    await once(server.listen(0, '127.0.0.1'), 'listening');
    closers.push(
      () => server.close(),
      () => server.closeAllConnections(),
    );
    url = new URL(`https://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  });
  afterAll(() => {
    for (const close of closers) close();
  });

  it('rejects a broker whose authority is not trusted', async () => {
    await expect(createPost({ url })({}, '', signal)).rejects.toThrow(/certificate/);
    const others = createPost({ url, authorities: async () => second.cert });
    await expect(others({}, '', signal)).rejects.toThrow(/certificate/);
  });

  it('trusts the given authorities, and renewed ones later', async () => {
    let pem = first.cert;
    const post = createPost({ url, authorities: async () => pem });
    expect(await post({}, '{}', signal)).toEqual({ status: 202, retryAfter: undefined });
    await present(second);
    await expect(post({}, '{}', signal)).rejects.toThrow(/certificate/);
    pem = `${first.cert}\n${second.cert}`;
    expect(await post({}, '{}', signal)).toMatchObject({ status: 202 });
    await present(first);
  });

  it('sends the current token', async () => {
    let token = 'one';
    const post = createPost({ url, authorities: async () => first.cert, token: async () => token });
    tokens.length = 0;
    await post({}, '', signal);
    token = 'two';
    await post({}, '', signal);
    expect(tokens).toEqual(['Bearer one', 'Bearer two']);
  });

  it('writes nothing when it may no longer send once it is connected', async () => {
    let allowed = true;
    const post = createPost({ url, authorities: async () => first.cert }, () => allowed);
    tokens.length = 0;
    const answer = post({}, '{}', signal);
    allowed = false;
    expect(await answer).toBeUndefined();
    allowed = true;
    expect(await post({}, '{}', signal)).toMatchObject({ status: 202 });
    expect(tokens).toHaveLength(1);
  });

  it('rejects when the token cannot be read and when the signal is aborted', async () => {
    const token = () => Promise.reject(new Error('no token'));
    await expect(createPost({ url, token })({}, '', signal)).rejects.toThrow('no token');
    const aborted = createPost({ url, authorities: async () => first.cert });
    await expect(aborted({}, '', AbortSignal.abort())).rejects.toThrow(/aborted/);
  });
});

describe('createPost to a broker of this process', () => {
  it('gives it nothing when it may not send', async () => {
    const taken: unknown[] = [];
    const take = async (...given: unknown[]) => {
      taken.push(given);
      return { status: 202, retryAfter: undefined };
    };
    const { signal } = new AbortController();
    expect(await createPost({ take }, () => false)({ a: 'b' }, '{}', signal)).toBeUndefined();
    expect(taken).toEqual([]);
    expect(await createPost({ take })({ a: 'b' }, '{}', signal)).toEqual({
      status: 202,
      retryAfter: undefined,
    });
    expect(taken).toEqual([[{ a: 'b' }, '{}']]);
  });
});

describe('createPost', () => {
  const whole = 'HTTP/1.1 202 Accepted\r\nconnection: close\r\ncontent-length: 50000\r\n\r\n'.concat(
    'a'.repeat(50_000),
  );
  it.each([
    [
      'switches the protocol',
      'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n',
      /ended/,
    ],
    ['ends in the midst of an answer', whole.slice(0, -1), /ended|aborted/],
    ['answers and closes the connection at once', whole, undefined],
  ])('settles where the broker %s', async (_, text, error) => {
    const server = createTcpServer((socket) => socket.once('data', () => socket.end(text)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const answer = createPost({ url })({}, '{}', new AbortController().signal);
    if (error) await expect(answer).rejects.toThrow(error);
    else expect(await answer).toEqual({ status: 202, retryAfter: undefined });
    server.close();
  });
});
