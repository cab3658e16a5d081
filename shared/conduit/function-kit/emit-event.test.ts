import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { anyCharacter, fc, runs } from '#shared/base/testing';
import { createKubeClient } from '#shared/kubernetes/client';
import { statusBody } from '../../kubernetes/client/testing/loopback.ts';
import { type EventInput, emitEvent } from './emit-event.ts';

const server = 'http://api.test';
const client = createKubeClient({ server, userAgent: 'unit' });
const path = `${server}/api/v1/namespaces/:namespace/events`;

interface Stored {
  metadata: { name: string; namespace: string; resourceVersion?: string };
  count: number;
  [field: string]: unknown;
}

const stored = new Map<string, Stored>();
let conflicts = 0;

const api = setupServer(
  http.post(path, async ({ request }) => {
    const event = (await request.json()) as Stored;
    const name = event.metadata.name;
    if (stored.has(name)) {
      return HttpResponse.json(statusBody(409, 'AlreadyExists', 'there', { name }), { status: 409 });
    }
    stored.set(name, { ...event, metadata: { ...event.metadata, resourceVersion: '1' } });
    return HttpResponse.json(stored.get(name), { status: 201 });
  }),
  http.get(`${path}/:name`, ({ params }) => HttpResponse.json(stored.get(String(params.name)))),
  http.patch(`${path}/:name`, async ({ params, request }) => {
    const name = String(params.name);
    const patch = (await request.json()) as Partial<Stored>;
    if (conflicts > 0) {
      conflicts -= 1;
      return HttpResponse.json(statusBody(409, 'Conflict', 'modified', { name }), { status: 409 });
    }
    const before = stored.get(name);
    if (before === undefined) return new HttpResponse('gone', { status: 404 });
    expect(patch.metadata).toEqual({ resourceVersion: before.metadata.resourceVersion });
    const resourceVersion = String(Number(before.metadata.resourceVersion) + 1);
    stored.set(name, { ...before, ...patch, metadata: { ...before.metadata, resourceVersion } });
    return HttpResponse.json(stored.get(name));
  }),
);

beforeAll(() => api.listen());
afterEach(() => {
  stored.clear();
  conflicts = 0;
});
afterAll(() => api.close());

const order = {
  apiVersion: 'arc.opendefense.cloud/v1alpha1',
  kind: 'Order',
  metadata: { name: 'o', namespace: 'n', uid: 'u1', resourceVersion: '8' },
};
const input: EventInput = {
  regarding: order,
  type: 'Warning',
  reason: 'Failed',
  message: 'the source answered 404',
  component: 'roll-up-order',
  now: new Date('2026-01-02T03:04:05.678Z'),
};

describe('emitEvent', () => {
  it('creates an Event that kubectl describe finds by the object', async () => {
    await emitEvent(client, input);
    const [event] = [...stored.values()];
    expect(event).toMatchObject({
      metadata: { namespace: 'n', name: expect.stringMatching(/^o\.[0-9a-f]{16}$/) },
      involvedObject: { apiVersion: order.apiVersion, kind: 'Order', name: 'o', namespace: 'n', uid: 'u1' },
      type: 'Warning',
      reason: 'Failed',
      message: 'the source answered 404',
      source: { component: 'roll-up-order' },
      firstTimestamp: '2026-01-02T03:04:05Z',
      lastTimestamp: '2026-01-02T03:04:05Z',
      count: 1,
    });
  });

  it('counts a repetition, although other instances count too', async () => {
    await emitEvent(client, input);
    conflicts = 2;
    await emitEvent(client, { ...input, now: new Date('2026-01-02T03:05:00Z') });
    expect([...stored.values()]).toMatchObject([
      { count: 2, firstTimestamp: '2026-01-02T03:04:05Z', lastTimestamp: '2026-01-02T03:05:00Z' },
    ]);
  });

  it('rejects with Conflict when every attempt conflicts', async () => {
    await emitEvent(client, input);
    conflicts = 100;
    await expect(emitEvent(client, input)).rejects.toMatchObject({ code: 'Conflict' });
  });

  it('creates one Event for each message and object', async () => {
    await emitEvent(client, input);
    await emitEvent(client, { ...input, message: 'the source answered 401' });
    await emitEvent(client, {
      ...input,
      regarding: { ...order, metadata: { ...order.metadata, uid: 'u2' } },
    });
    expect(stored.size).toBe(3);
  });

  it('escapes control characters of a message and keeps its line breaks', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: anyCharacter, minLength: 1 }), async (text) => {
        stored.clear();
        await emitEvent(client, { ...input, message: `line one\n\t\x1b\u202e${text}` });
        const [event] = [...stored.values()];
        expect(event?.message).toMatch(/^line one\n\t\\x1b\\u202e/);
        expect(event?.message).not.toMatch(/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/u);
      }),
      { numRuns: runs(20) },
    );
  });

  it('cuts long messages and names, and puts Events of cluster-scoped objects in default', async () => {
    const metadata = { name: 'x'.repeat(253), uid: 'u' };
    await emitEvent(client, {
      ...input,
      message: `m${'😀'.repeat(5_000)}`,
      regarding: { ...order, metadata },
    });
    const [event] = [...stored.values()];
    expect(event?.metadata.namespace).toBe('default');
    expect(event?.metadata.name.length).toBeLessThanOrEqual(253);
    expect(event?.message).toMatch(/^m😀.*😀…$/u);
    expect(Buffer.byteLength(String(event?.message))).toBeLessThanOrEqual(1024);
  });
});
