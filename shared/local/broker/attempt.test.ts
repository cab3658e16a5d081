import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { fc } from '#shared/base/testing';
import { backoffMs, sendOverHttp } from './attempt.ts';

describe('sendOverHttp', () => {
  it('rejects where the subscriber switches the protocol', async () => {
    const text = 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n';
    const server = createServer((socket) => socket.once('data', () => socket.end(text)));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const answer = sendOverHttp(url, { headers: {}, body: undefined }, AbortSignal.timeout(5_000));
    await expect(answer).rejects.toThrow('the connection ended before the answer began');
    server.close();
  });
});

describe('backoffMs', () => {
  it('doubles from the delay on', () => {
    const delivery = { backoffPolicy: 'exponential', backoffDelayMs: 200 } as const;
    expect([0, 1, 2, 3].map((n) => backoffMs(delivery, n, 60_000))).toEqual([200, 400, 800, 1600]);
  });

  it('grows by the delay when linear, the first retry at once', () => {
    const delivery = { backoffPolicy: 'linear', backoffDelayMs: 200 } as const;
    expect([0, 1, 2, 3].map((n) => backoffMs(delivery, n, 60_000))).toEqual([0, 200, 400, 600]);
  });

  it('never exceeds the cap and never falls', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('exponential' as const, 'linear' as const),
        fc.nat(5000),
        fc.nat(2000),
        (policy, delay, n) => {
          const delivery = { backoffPolicy: policy, backoffDelayMs: delay };
          const wait = backoffMs(delivery, n, 30_000);
          expect(wait).toBeLessThanOrEqual(30_000);
          expect(backoffMs(delivery, n + 1, 30_000)).toBeGreaterThanOrEqual(wait);
        },
      ),
    );
  });
});
