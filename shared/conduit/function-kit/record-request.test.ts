import { expect, it } from 'vitest';
import { annotations, events } from '#shared/domain';
import { order } from '../../domain/testing/objects.ts';
import { FakeApi } from '../../kubernetes/client/testing/fake-api/fake-api.ts';
import { contextOf } from '../runtime/testing/handler-context.ts';
import { recordRequest } from './record-request.ts';

const plain = order('one', ['a:1']);

function asked(action: string, time: string) {
  const notes = { [annotations.requestedBy]: JSON.stringify({ action, user: 'jo', time }) };
  return { ...plain, metadata: { ...plain.metadata, annotations: notes } };
}

it('records each request once, at its time, however often the object changes', async () => {
  const api = new FakeApi([plain]);
  const record = (object: typeof plain) =>
    recordRequest(contextOf(api, new Date('2026-01-01T00:05:00Z')), object, 'unit');
  const first = asked('retry', '2026-01-01T00:00:00.000Z');
  await record(plain);
  expect(api.all(events)).toEqual([]);
  await record(first);
  await record(first);
  await record(asked('retry', '2026-01-01T00:01:00.000Z'));
  await record(asked('pause', '2026-01-01T00:02:00.000Z'));
  expect(api.all(events)).toMatchObject(
    ['2026-01-01T00:00:00Z', '2026-01-01T00:01:00Z'].map((lastTimestamp) => ({
      type: 'Normal',
      reason: 'RetryRequested',
      message: 'jo asked for a retry',
      count: 1,
      lastTimestamp,
    })),
  );
});

it('asks nothing of the API for one that was made long ago', async () => {
  const api = new FakeApi([plain]);
  const late = new Date('2026-01-01T00:10:01Z');
  await recordRequest(contextOf(api, late), asked('retry', '2026-01-01T00:00:00.000Z'), 'unit');
  expect(api.requests).toEqual([]);
});
