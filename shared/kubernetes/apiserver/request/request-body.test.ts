import { describe, expect, it, vi } from 'vitest';
import { bodyLimit } from '../codec/parse-body.ts';
import { readBody } from './request-body.ts';

describe('readBody', () => {
  it('stops reading a body of unknown length once it is far too large', async () => {
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        sent += 65_536;
        controller.enqueue(new Uint8Array(65_536));
      },
    });
    const request = new Request('http://test.invalid/', { method: 'POST', body, duplex: 'half' });
    await expect(readBody({ raw: request, fairUse: undefined, body: undefined })).rejects.toMatchObject({
      code: 'RequestEntityTooLarge',
    });
    expect(sent).toBeLessThan(2 * bodyLimit + 4 * 65_536);
  });
});

describe('readBody from a slow client', () => {
  it.each([
    ['100', 15_002],
    ['2000000', 15_000 + 31_250],
  ])('of %s bytes rejects after the timeout for that size', async (length, ms) => {
    vi.useFakeTimers();
    try {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => controller.enqueue(new Uint8Array(1)),
      });
      const headers = { 'content-length': length };
      const request = new Request('http://test.invalid/', { method: 'POST', body, headers, duplex: 'half' });
      const read = readBody({ raw: request, fairUse: undefined, body: undefined }).catch(
        (caught: unknown) => caught,
      );
      await vi.advanceTimersByTimeAsync(ms - 1);
      expect(await Promise.race([read, Promise.resolve('waiting')])).toBe('waiting');
      await vi.advanceTimersByTimeAsync(1);
      expect(await read).toMatchObject({
        code: 'BadRequest',
        message: expect.stringContaining('timed out reading the body'),
      });
    } finally {
      vi.useRealTimers();
    }
  });
});

describe('readBody of a client that has left', () => {
  it('rejects with BadRequest', async () => {
    const body = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.error(new Error('aborted'));
      },
    });
    const request = new Request('http://test.invalid/', { method: 'POST', body, duplex: 'half' });
    await expect(readBody({ raw: request, fairUse: undefined, body: undefined })).rejects.toMatchObject({
      code: 'BadRequest',
    });
  });
});
