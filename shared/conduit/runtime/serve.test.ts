import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import type { Fn } from './function.ts';
import { type Served, type ServeOptions, serveFunction } from './serve.ts';
import { freePort, parts, post, rawConnection, until } from './testing/requests.ts';

let served: Served | undefined;
afterEach(async () => {
  await served?.close();
  served = undefined;
});

async function serve(fn: Partial<Fn>, extra: Partial<ServeOptions> = {}) {
  const given = parts();
  served = await serveFunction({ handle: async () => undefined, ...fn }, { ...given, port: 0, ...extra });
  return { ...given, served };
}

/** A handler that waits to be released, and what it saw. */
function gate() {
  const release = Promise.withResolvers<undefined>();
  const signals: AbortSignal[] = [];
  const handle: Fn['handle'] = (context) => {
    signals.push(context.signal);
    return release.promise;
  };
  return { handle, release, signals };
}

describe('serveFunction', () => {
  it('serves events over HTTP on loopback once init is done', async () => {
    const order: string[] = [];
    const { served } = await serve({
      init: async ({ log, env }) => {
        log.info('init');
        order.push(`init ${Object.keys(env).length}`);
      },
      handle: async () => {
        order.push('handle');
        return undefined;
      },
    });
    expect(served.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await fetch(served.url, post())).status).toBe(204);
    expect(order).toEqual(['init 0', 'handle']);
    expect(await (await fetch(`${served.url}/metrics`)).text()).toMatch(
      /faas_cold_start_latency\{.*\} [\d.e-]+\n/,
    );
  });

  it('is alive but not ready while init runs', async () => {
    const release = Promise.withResolvers<void>();
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    let initialising = false;
    const starting = serve(
      {
        init: () => {
          initialising = true;
          return release.promise;
        },
      },
      { port },
    );
    await until('init', () => initialising);
    expect((await fetch(`${url}/health/liveness`)).status).toBe(200);
    expect((await fetch(`${url}/health/readiness`)).status).toBe(503);
    expect((await fetch(url, post())).status).toBe(503);
    release.resolve();
    await starting;
    expect((await fetch(`${url}/health/readiness`)).status).toBe(200);
  });

  it('rejects and frees its port when init fails, and when the port is taken', async () => {
    const port = await freePort();
    const init = () => Promise.reject(new ArcError('Invalid', 'SETTING is missing'));
    await expect(serve({ init }, { port })).rejects.toThrow('SETTING is missing');
    await serve({}, { port });
    await expect(
      serveFunction({ handle: async () => undefined }, { ...parts(), port }),
    ).rejects.toMatchObject({
      code: 'ServiceUnavailable',
      message: expect.stringMatching(/cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/),
    });
  });

  it('refuses a body over 64 KiB without Content-Length, and goes on serving', async () => {
    const { served } = await serve({});
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(16_384)),
    });
    const endless = { ...post(), body, duplex: 'half' } as RequestInit;
    // The connection is cut under the sender: it sees the answer or a broken pipe, never an end of its own stream.
    const status = await fetch(served.url, endless).then(
      (answer) => answer.status,
      () => 413,
    );
    expect(status).toBe(413);
    expect((await fetch(served.url, post())).status).toBe(204);
  });
});

describe('the deadline', () => {
  it('covers the reading of a body that never comes', async () => {
    const { served } = await serve({}, { deadlineMs: 50 });
    const slow = await rawConnection(served.url);
    slow.socket.write('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 10\r\n\r\n{');
    await until('the answer', () => slow.received().includes('"Timeout"'));
    expect(slow.received()).toMatch(/^HTTP\/1\.1 503 /);
    slow.socket.destroy();
  });
});

describe('close', () => {
  it('lets a delivery in flight finish, refuses new ones, then calls shutdown', async () => {
    const { handle, release, signals } = gate();
    const events: string[] = [];
    const { served } = await serve({ handle, shutdown: async () => void events.push('shutdown') });
    const delivery = fetch(served.url, post());
    await until('the delivery', () => signals.length === 1);
    const closing = served.close().then(() => void events.push('closed'));
    await expect(fetch(served.url, post())).rejects.toThrow();
    release.resolve(undefined);
    const answer = await delivery;
    events.unshift('answered');
    expect([answer.status, answer.headers.get('connection')]).toEqual([204, 'close']);
    await closing;
    expect(signals[0]?.aborted).toBe(false);
    expect(events).toEqual(['answered', 'shutdown', 'closed']);
  });

  it('aborts deliveries that do not finish in time; the broker delivers them again', async () => {
    const { handle, signals } = gate();
    const { served, lines } = await serve({ handle }, { drainMs: 10 });
    const delivery = fetch(served.url, post());
    await until('the delivery', () => signals.length === 1);
    const closing = served.close();
    const answer = await delivery;
    expect(answer.status).toBe(503);
    expect(await answer.json()).toMatchObject({ reason: 'ServiceUnavailable' });
    expect(signals[0]?.reason).toMatchObject({ code: 'ServiceUnavailable' });
    await closing;
    expect(lines.map(({ msg }) => msg)).toContain(
      'deliveries did not finish in time and are aborted; the broker delivers them again',
    );
  });

  it('closes idle keep-alive connections and those that never sent a request', async () => {
    const { served } = await serve({});
    const [idle, silent] = [await rawConnection(served.url), await rawConnection(served.url)];
    const ends = [once(idle.socket, 'close'), once(silent.socket, 'close')];
    idle.socket.write('GET /health/liveness HTTP/1.1\r\nhost: x\r\n\r\n');
    await until('the answer', () => idle.received().includes('ok\n'));
    expect(idle.received()).toMatch(/keep-alive: timeout=6\d\d/i);
    await Promise.all([served.close(), ...ends]);
  });

  it('happens once, however often it is called, and ends even when shutdown fails', async () => {
    let count = 0;
    const { served, lines } = await serve({
      shutdown: () => {
        count += 1;
        return Promise.reject(new Error('shutdown bug'));
      },
    });
    await Promise.all([served.close(), served.close()]);
    expect(count).toBe(1);
    expect(JSON.stringify(lines)).toContain('shutdown bug');
  });
});
