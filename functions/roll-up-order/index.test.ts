import { describe, expect, it } from 'vitest';
import {
  annotations,
  artifactWorkflows,
  events,
  type Order,
  orders,
  planOrder,
  staleAt,
} from '#shared/domain';
import { contextOf, eventOf } from '../../shared/conduit/runtime/testing/handler-context.ts';
import { endpoint, ociTemplate, ociType, order } from '../../shared/domain/testing/objects.ts';
import { FakeApi } from '../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { handle } from './index.ts';

const endpoints = [endpoint('source'), endpoint('destination')];
const inputs = [...endpoints, ociTemplate(), ociType()];

/** The children that decompose-order would make, in this phase. */
function children(one: Order, phase: 'Running' | 'Succeeded' | 'Failed') {
  return planOrder(one, { endpoints, types: [ociType()] }).artifacts.flatMap((artifact) =>
    artifact.state === 'ready'
      ? [
          {
            ...artifact.workflow,
            status: {
              phase,
              startTime: '2026-01-01T00:00:00Z',
              ...(phase === 'Running' ? {} : { completionTime: '2026-01-01T00:05:00Z' }),
            },
          },
        ]
      : [],
  );
}

/** When time alone changes the status. */
function dueOf(one: Order | undefined): Date | undefined {
  const at = one && staleAt(one);
  return at === undefined ? undefined : new Date(at);
}

describe('roll-up-order', () => {
  it('writes nothing when the Order is deleted before the write', async () => {
    const one = order('order', ['a:1']);
    const api = new FakeApi([one, ...inputs]);
    api.before = ({ verb }) => {
      if (verb === 'patch') api.remove(orders, one.metadata);
    };
    await handle(contextOf(api), eventOf(one));
    expect(api.writes).toEqual([]);
  });

  it('sets Pending for an Order without children', async () => {
    const one = order('order', ['a:1', 'b:1']);
    const api = new FakeApi([one, ...inputs]);
    await handle(contextOf(api), eventOf(one));
    expect(api.read(orders, one.metadata)?.status).toMatchObject({
      phase: 'Pending',
      counts: { total: 2, pending: 2 },
      observedGeneration: 1,
    });
  });

  it('writes nothing when nothing has changed', async () => {
    const one = order('order', ['a:1']);
    const api = new FakeApi([one, ...inputs, ...children(one, 'Running')]);
    await handle(contextOf(api), eventOf(one));
    const before = api.writes.length;
    await handle(contextOf(api, new Date('2026-01-03T00:00:00Z')), eventOf(one));
    expect(api.writes.length).toBe(before);
  });

  it('reports an artifact without a child, with its own message and Event, beside those that run', async () => {
    const one = order('order', [], {
      artifacts: [
        { type: 'oci', spec: { image: 'a:1' } },
        { type: 'oci', name: 'bad', srcRef: { name: 'push' } },
      ],
    });
    const push = endpoint('push', { usage: 'PushOnly' });
    const api = new FakeApi([one, push, ...inputs, ...children(one, 'Running')]);
    await handle(contextOf(api), eventOf(one));
    expect(api.read(orders, one.metadata)?.status).toMatchObject({
      phase: 'Running',
      counts: { running: 1, invalid: 1 },
    });
    const recorded = api.all(events).map(({ type, reason, message }) => ({ type, reason, message }));
    expect(recorded).toEqual([
      { type: 'Normal', reason: 'Accepted', message: 'generation 1: 2 artifacts, 1 of them invalid' },
      { type: 'Normal', reason: 'Started', message: 'artifacts are being moved' },
      { type: 'Warning', reason: 'Invalid', message: expect.stringContaining('artifact 1 (bad)') },
    ]);
  });

  it('shows which ArtifactWorkflow the API refuses to create, and is Stalled when that lasts', async () => {
    const one = order('order', ['a:1']);
    const [artifact] = planOrder(one, { endpoints, types: [ociType()] }).artifacts;
    const hold = { reason: 'CreationFailed', message: 'cannot create ArtifactWorkflow "x": too large' };
    const note = JSON.stringify({ [artifact?.key ?? '']: hold });
    const noted = { ...one, metadata: { ...one.metadata, annotations: { [annotations.refused]: note } } };
    const api = new FakeApi([noted, ...inputs]);
    await handle(contextOf(api), eventOf(noted));
    const waiting = api.read(orders, one.metadata);
    expect(Object.values(waiting?.status?.artifactWorkflows ?? {})).toMatchObject([
      { phase: 'Pending', ...hold },
    ]);
    await handle(contextOf(api, dueOf(waiting)), eventOf(noted));
    expect(api.read(orders, one.metadata)?.status?.conditions).toContainEqual(
      expect.objectContaining({ type: 'Stalled', status: 'True', reason: 'CreationFailed' }),
    );
  });

  it('waits for what is absent, without a Warning, until it is due', async () => {
    const one = order('order', ['a:1']);
    const api = new FakeApi([one, ociTemplate(), ociType()]);
    await handle(contextOf(api, new Date('2026-01-02T00:00:00.9Z')), eventOf(one));
    const waiting = api.read(orders, one.metadata);
    expect(waiting?.status).toMatchObject({ phase: 'Pending', counts: { pending: 1 } });
    expect(api.all(events).map(({ reason }) => reason)).toEqual(['Accepted']);
    const due = dueOf(waiting);
    expect(due?.toISOString()).toBe('2026-01-02T00:00:11.000Z');
    await handle(contextOf(api, due), eventOf(one));
    const after = api.read(orders, one.metadata);
    expect(after?.status).toMatchObject({ phase: 'Failed', counts: { invalid: 1 } });
    expect(dueOf(after)).toBeUndefined();
    expect(api.all(events).map(({ reason }) => reason)).toEqual(['Accepted', 'Invalid', 'Failed']);
  });

  it.each([
    ['Succeeded', 'Completed'],
    ['Failed', 'Failed'],
  ] as const)('records one Event when all have %s', async (phase, reason) => {
    const one = order('order', ['a:1', 'b:1']);
    const api = new FakeApi([one, ...inputs, ...children(one, phase)]);
    await handle(contextOf(api), eventOf(one));
    await handle(contextOf(api), eventOf(one));
    expect(api.read(orders, one.metadata)?.status?.phase).toBe(phase);
    expect(api.all(events).map((event) => event.reason)).toEqual(['Accepted', reason]);
  });

  it('leaves what was announced as it is', async () => {
    const one = order('order', ['a:1']);
    const api = new FakeApi([one, ...inputs]);
    await handle(contextOf(api), eventOf(one));
    const first = api.read(orders, one.metadata);
    expect(first?.status?.announced).toBe('');
    api.put({ ...first, status: { ...first?.status, announced: '1/accepted' } } as Order);
    for (const child of children(one, 'Succeeded')) api.put(child);
    await handle(contextOf(api), eventOf(one));
    expect(api.read(orders, one.metadata)?.status).toMatchObject({
      phase: 'Succeeded',
      announced: '1/accepted',
    });
  });

  it('drops the entries of removed artifacts', async () => {
    const one = order('order', ['a:1', 'b:1']);
    const api = new FakeApi([one, ...inputs]);
    await handle(contextOf(api), eventOf(one));
    const stored = api.read(orders, one.metadata) ?? one;
    api.put({ ...stored, spec: order('order', ['a:1']).spec });
    await handle(contextOf(api), eventOf(one));
    expect(Object.keys(api.read(orders, one.metadata)?.status?.artifactWorkflows ?? {}).length).toBe(1);
  });

  it('rejects with Conflict when the Order has changed, and records no Event', async () => {
    const one = order('order', ['a:1']);
    const api = new FakeApi([one, ...inputs, ...children(one, 'Succeeded')]);
    api.before = ({ verb }) => {
      if (verb === 'patch') api.put(one);
    };
    await expect(handle(contextOf(api), eventOf(one))).rejects.toMatchObject({ code: 'Conflict' });
    expect(api.all(events)).toEqual([]);
  });

  it('does not count objects that only carry the label', async () => {
    const one = order('order', ['a:1']);
    const [child] = children(one, 'Succeeded');
    if (child === undefined) throw new Error('the plan is not as the test needs it');
    const { ownerReferences: _owners, ...metadata } = child.metadata;
    const api = new FakeApi([one, ...inputs, { ...child, metadata }]);
    await handle(contextOf(api), eventOf(one));
    expect(api.read(orders, one.metadata)?.status?.counts?.succeeded).toBe(0);
    expect(api.all(artifactWorkflows).length).toBe(1);
  });
});
