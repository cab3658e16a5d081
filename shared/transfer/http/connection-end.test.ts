import { once } from 'node:events';
import net, { type AddressInfo, type Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { unreachable } from '../probe/unreachable.ts';
import { connectionEnd } from './connection-end.ts';
import { createHttpClient, defaultTimeouts } from './http-client.ts';
import { registryNetworkFailure } from './request-failures.ts';

/** Asks a server that does `then` with a connection when it has been sent something. Resolves with what the request fails with. */
async function failureOf(scheme: 'http' | 'https', then: (socket: Socket) => void): Promise<unknown> {
  const server = net.createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => then(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const client = createHttpClient({}, defaultTimeouts);
  onTestFinished(() => client.close());
  const url = new URL(`${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  const { signal } = new AbortController();
  return client
    .send({ method: 'GET', url, headers: {}, signal })
    .then(({ body }) => buffer(body))
    .catch((caught: unknown) => caught);
}

const secret = 'tls.crt and tls.key in the Secret of Endpoint "src" (spec.secretRef)';

describe('a connection that the peer closes', () => {
  it('in the TLS handshake points at the client certificate', async () => {
    const caught = await failureOf('https', (socket) => socket.end());
    expect(connectionEnd(caught, 'src')).toEqual({
      inHandshake: true,
      text: expect.stringContaining(secret),
    });
    expect(connectionEnd(caught, 'src')?.text).toMatch(
      /during the TLS handshake without a reason \(ECONNRESET\)/,
    );
    expect(unreachable(caught, 'src', 'https://r.io').reason).toBe('TLSError');
  });

  it.each([
    ['https', 'a reset', (socket: Socket): void => void socket.resetAndDestroy()],
    ['http', 'a reset', (socket: Socket): void => void socket.resetAndDestroy()],
    ['http', 'its end', (socket: Socket): void => void socket.end()],
  ] as const)('without a response, %s with %s, points at proxies and firewalls', async (scheme, _, then) => {
    const caught = await failureOf(scheme, then);
    const { text, inHandshake } = connectionEnd(caught, 'src') ?? {};
    expect(inHandshake).toBe(false);
    expect(text).toMatch(
      /^it closed the connection without a response \(ECONNRESET\): check its log, and time and size limits/,
    );
    expect(text).toContain(secret);
    expect(unreachable(caught, 'src', 'http://r.io')).toMatchObject({
      reason: 'ProbeFailed',
      message: `http://r.io cannot be reached: ${text}`,
    });
  });

  it('in the middle of the response is reported as such', async () => {
    const caught = await failureOf('http', (socket) =>
      socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nsome'),
    );
    expect(connectionEnd(caught, 'src')?.text).toMatch(
      /^the connection closed in the middle of the response/,
    );
  });

  it('is retryable, and the message names the registry and the activity', async () => {
    const caught = await failureOf('http', (socket) => void socket.destroy());
    const context = {
      endpoint: 'src',
      host: 'r.io',
      place: 'repository team/app',
      credentials: { kind: 'none' } as const,
      activity: 'reading manifest 1.0',
      writing: false,
    };
    expect(registryNetworkFailure(context, caught)).toMatchObject({
      reason: 'retryable',
      message: expect.stringMatching(
        /^Registry r\.io could not be reached while reading manifest 1\.0 in repository team\/app: it closed the connection/,
      ),
    });
  });

  it.each([new Error('aborted'), Object.assign(new Error('x'), { code: 'ECONNREFUSED' }), 'text'])(
    'is not %s',
    (caught) => expect(connectionEnd(caught, 'src')).toBeUndefined(),
  );
});
