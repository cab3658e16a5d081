import { once } from 'node:events';
import { type ClientRequest, createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { endOnAbort } from './ended-requests.ts';

const server = createServer((request, response) => {
  if (request.url === '/endless') response.write('more');
  else if (request.url === '/') response.end('done');
});
beforeAll(() => once(server.listen(0, '127.0.0.1'), 'listening'));
afterAll(() => server.close().closeAllConnections());

const ask = (path: string): ClientRequest =>
  get({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, path });

/** Signals that count who listens to them. */
function counted() {
  const control = new AbortController();
  const { signal } = control;
  let listeners = 0;
  const add = signal.addEventListener.bind(signal);
  const remove = signal.removeEventListener.bind(signal);
  signal.addEventListener = (...args: Parameters<typeof add>) => {
    listeners += 1;
    add(...args);
  };
  signal.removeEventListener = (...args: Parameters<typeof remove>) => {
    listeners -= 1;
    remove(...args);
  };
  return { control, listeners: () => listeners };
}

describe('endOnAbort', () => {
  it('ends a request that waits for its answer as node:http does', async () => {
    const errors = [];
    for (const isOurs of [true, false]) {
      const control = new AbortController();
      const request = isOurs
        ? ask('/silent')
        : get({
            host: '127.0.0.1',
            port: (server.address() as AddressInfo).port,
            path: '/silent',
            signal: control.signal,
          });
      if (isOurs) endOnAbort(request, control.signal);
      const failed = once(request, 'error');
      await once(request, 'finish');
      control.abort(new Error('why'));
      const [error] = (await failed.catch((caught: unknown) => [caught])) as [NodeJS.ErrnoException];
      errors.push([error.name, error.code, error.message, (error.cause as Error).message]);
    }
    expect(errors[0]).toEqual(errors[1]);
  });

  it('ends an answer', async () => {
    const control = new AbortController();
    const request = ask('/endless').on('error', () => undefined);
    endOnAbort(request, control.signal);
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    const failed = once(answer.resume(), 'error');
    control.abort();
    await expect(failed.then(([error]) => error as unknown)).resolves.toMatchObject({ code: 'ECONNRESET' });
  });

  it('begins nothing after the abort', async () => {
    const request = ask('/');
    const failed = once(request, 'response');
    endOnAbort(request, AbortSignal.abort());
    await expect(failed).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('leaves the signal alone when the request is over', async () => {
    const { control, listeners } = counted();
    const request = ask('/');
    endOnAbort(request, control.signal);
    expect(listeners()).toBe(1);
    const [answer] = (await once(request, 'response')) as [IncomingMessage];
    await Promise.all([once(request, 'close'), once(answer.resume(), 'end')]);
    expect(listeners()).toBe(0);
  });
});
