import { describe, expect, it } from 'vitest';
import type { Kind } from './client.ts';
import { collect } from './testing/loopback.ts';
import { watchEvents } from './watch-stream.ts';

const secrets: Kind = { apiVersion: 'v1', kind: 'Secret', plural: 'secrets', namespaced: true };

async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield new TextEncoder().encode(text);
}

function events(...lines: unknown[]) {
  const text = lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join('');
  return collect(watchEvents(secrets, bytes(text)));
}

describe('watchEvents', () => {
  it('gives changes with their kind, unknown fields kept, and bookmarks by their resourceVersion', async () => {
    const object = { metadata: { name: 'a', resourceVersion: '5', strange: 1 }, other: [1] };
    expect(
      await events(
        { type: 'ADDED', object },
        { type: 'BOOKMARK', object: { metadata: { resourceVersion: '9' } } },
      ),
    ).toEqual([
      { type: 'ADDED', object: { apiVersion: 'v1', kind: 'Secret', ...object } },
      { type: 'BOOKMARK', resourceVersion: '9' },
    ]);
  });

  it('rejects with the code of an ERROR event', async () => {
    const object = {
      kind: 'Status',
      code: 410,
      reason: 'Expired',
      message: 'too old resource version: 1 (5)',
    };
    await expect(events({ type: 'ERROR', object })).rejects.toMatchObject({
      code: 'Expired',
      message: 'too old resource version: 1 (5)',
    });
  });

  it.each([
    ['no JSON', '{"type":'],
    ['no event', '[]'],
    ['null', 'null'],
    ['an unknown type', { type: 'MOVED', object: { metadata: { name: 'a', resourceVersion: '1' } } }],
    ['an object without a name', { type: 'ADDED', object: { metadata: { resourceVersion: '1' } } }],
    ['an object without a version', { type: 'ADDED', object: { metadata: { name: 'a' } } }],
    ['no object', { type: 'ADDED' }],
    ['no metadata', { type: 'BOOKMARK', object: {} }],
  ])('rejects %s', async (_, line) => {
    await expect(events(line)).rejects.toMatchObject({ code: 'InternalError' });
  });
});
