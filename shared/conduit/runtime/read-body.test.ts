import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { readBody } from './read-body.ts';

const calm = new AbortController().signal;

function request(body: ReadableStream<Uint8Array> | string | null, headers = {}): Request {
  return new Request('http://x/', { method: 'POST', body, headers, duplex: 'half' } as RequestInit);
}

function endless(chunk: number): {
  stream: ReadableStream<Uint8Array>;
  state: { sent: number; cancelled: boolean };
} {
  const state = { sent: 0, cancelled: false };
  const stream = new ReadableStream<Uint8Array>({
    pull(controller) {
      state.sent += chunk;
      controller.enqueue(new Uint8Array(chunk));
    },
    cancel() {
      state.cancelled = true;
    },
  });
  return { stream, state };
}

describe('readBody', () => {
  it('reads up to the limit', async () => {
    expect((await readBody(request('x'.repeat(10)), 10, calm)).byteLength).toBe(10);
    expect((await readBody(request(null), 10, calm)).byteLength).toBe(0);
  });

  it('stops reading a stream that is too large', async () => {
    const { stream, state } = endless(6);
    await expect(readBody(request(stream), 10, calm)).rejects.toMatchObject({
      code: 'RequestEntityTooLarge',
    });
    expect(state.cancelled).toBe(true);
    expect(state.sent).toBeLessThan(60);
  });

  it('does not read a body whose Content-Length is too large', async () => {
    const { stream } = endless(1);
    const announced = request(stream, { 'content-length': '11' });
    await expect(readBody(announced, 10, calm)).rejects.toMatchObject({ code: 'RequestEntityTooLarge' });
  });

  it('rejects with the reason of the signal while it waits', async () => {
    const control = new AbortController();
    const silent = new ReadableStream<Uint8Array>({
      pull: () => {
        control.abort(new ArcError('Timeout', 'too slow'));
        return new Promise(() => undefined);
      },
    });
    await expect(readBody(request(silent), 10, control.signal)).rejects.toThrow('too slow');
  });

  it('reads a body of known length, with the same bounds', async () => {
    const known = (text: string) => request(text, { 'content-length': '10' });
    expect((await readBody(known('x'.repeat(10)), 10, calm)).byteLength).toBe(10);
    await expect(readBody(known('x'.repeat(11)), 10, calm)).rejects.toMatchObject({
      code: 'RequestEntityTooLarge',
    });
    const control = new AbortController();
    const silent = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => undefined) });
    const late = readBody(request(silent, { 'content-length': '10' }), 10, control.signal);
    control.abort(new ArcError('Timeout', 'too slow'));
    await expect(late).rejects.toThrow('too slow');
  });

  it('rejects with BadRequest when the sender breaks off', async () => {
    const broken = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.error(new Error('reset')),
    });
    await expect(readBody(request(broken), 10, calm)).rejects.toMatchObject({ code: 'BadRequest' });
  });
});
