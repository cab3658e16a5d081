import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { largestObjectBytes } from '#shared/base/meta';
import type { KindDefinition, KubeObject } from '../kinds/definition.ts';
import { startTestServer, type TestServer, widgets } from '../testing/test-server.ts';
import { checkSize } from './object-size.ts';

const text = (length: number) => 'x'.repeat(length);

describe('an object in a store that would hold it', () => {
  let server: TestServer;
  beforeEach(async () => {
    server = await startTestServer();
  });
  afterEach(() => server.close());

  const sized = (name: string, length: number, metadata: object = {}) => ({
    apiVersion: 'test.example.com/v1',
    kind: 'Widget',
    metadata: { name, ...metadata },
    spec: { color: text(length) },
  });

  it('is rejected on create if it exceeds the limit of etcd, with size, limit and advice', async () => {
    expect((await server.call('POST', widgets, sized('fits', largestObjectBytes - 1_000))).status).toBe(201);
    const { status, body } = await server.call('POST', widgets, sized('large', largestObjectBytes));
    expect([status, body.reason]).toEqual([413, 'RequestEntityTooLarge']);
    expect(body.message).toMatch(
      /^widgets "large" is too large: .* takes 1\.[56] MiB, [\d.]+ \w+ more than the limit of 1\.5 MiB\. Split it/,
    );
    expect((await server.call('GET', `${widgets}/large`)).status).toBe(404);
  });

  it('is refused on every kind of write that makes it so, and on a dry run', async () => {
    await server.call('POST', widgets, sized('grows', 10));
    const patch = { spec: { color: text(largestObjectBytes) } };
    const types = { 'content-type': 'application/merge-patch+json' };
    for (const query of ['', '?dryRun=All'])
      expect((await server.call('PATCH', `${widgets}/grows${query}`, patch, types)).status).toBe(413);
    const { metadata } = (await server.call('GET', `${widgets}/grows`)).body;
    const larger = sized('grows', largestObjectBytes, { resourceVersion: metadata.resourceVersion });
    expect((await server.call('PUT', `${widgets}/grows`, larger)).status).toBe(413);
    expect((await server.call('GET', `${widgets}/grows`)).body.spec.color).toBe(text(10));
  });

  it('can be deleted, and lose its finalizer, however close to the limit it is', async () => {
    const length = largestObjectBytes - 1_000;
    const { body } = await server.call('POST', widgets, sized('held', length, { finalizers: ['a.b/c'] }));
    const room = largestObjectBytes - Buffer.byteLength(JSON.stringify(body));
    const full = { spec: { color: text(length + room) } };
    const types = { 'content-type': 'application/merge-patch+json' };
    expect((await server.call('PATCH', `${widgets}/held`, full, types)).status).toBe(200);
    expect((await server.call('DELETE', `${widgets}/held`)).status).toBe(200);
    const release = { metadata: { finalizers: null } };
    expect((await server.call('PATCH', `${widgets}/held`, release, types)).status).toBe(200);
    expect((await server.call('GET', `${widgets}/held`)).status).toBe(404);
  });
});

describe('an object whose status may grow', () => {
  const parts = {
    plural: 'lists',
    hooks: { statusRoom: ({ spec }: KubeObject) => (spec as { room: number }).room },
  };
  const definition = parts as unknown as KindDefinition;
  const sized = (bytes: number, room: number, status?: object) => ({
    object: { metadata: { name: 'a' }, spec: { room }, ...(status && { status }) } as unknown as KubeObject,
    value: new Uint8Array(bytes),
  });
  const check =
    (...of: ReturnType<typeof sized>[]) =>
    () => {
      const [next, old] = of;
      if (next) checkSize(definition, next, old);
    };

  it('must leave room for it', () => {
    expect(check(sized(largestObjectBytes - 500, 500))).not.toThrow();
    expect(check(sized(largestObjectBytes - 500, 501))).toThrow(
      'lists "a" is too large: it takes 1.5 MiB as stored and its status may grow to 501 bytes, together 1 byte more than the limit of 1.5 MiB',
    );
  });

  it('is measured without the status that it has', () => {
    const status = { text: text(1_000) };
    expect(check(sized(largestObjectBytes, 1_000, status))).not.toThrow();
  });

  it('may be written as long as it does not grow, though it leaves too little room', () => {
    const old = sized(largestObjectBytes - 500, 600);
    expect(check(sized(largestObjectBytes - 500, 600), old)).not.toThrow();
    expect(check(sized(largestObjectBytes - 499, 600), old)).toThrow('is too large');
    expect(check(sized(largestObjectBytes - 500, 601), old)).toThrow('is too large');
  });
});
