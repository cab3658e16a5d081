import { describe, expect, it } from 'vitest';
import { orders } from '#shared/domain';
import { order } from '../../domain/testing/objects.ts';
import { FakeApi } from '../../kubernetes/client/testing/fake-api/fake-api.ts';
import { contextOf } from '../runtime/testing/handler-context.ts';
import { addFinalizer, removeFinalizer } from './finalizers.ts';

const plain = order('one', ['a:1']);
const one = { ...plain, metadata: { ...plain.metadata, finalizers: ['example.com/other'] } };

describe('finalizers', () => {
  it('are added and removed beside those of others', async () => {
    const api = new FakeApi();
    const stored = api.put(one);
    expect(await addFinalizer(contextOf(api), orders, stored, 'example.com/ours')).toBe(true);
    const held = api.read(orders, one.metadata) ?? stored;
    expect(held.metadata.finalizers).toEqual(['example.com/other', 'example.com/ours']);
    await removeFinalizer(contextOf(api), orders, held, 'example.com/ours');
    expect(api.read(orders, one.metadata)?.metadata.finalizers).toEqual(['example.com/other']);
  });

  it('are not added to an object that is gone', async () => {
    const api = new FakeApi();
    expect(await addFinalizer(contextOf(api), orders, one, 'example.com/ours')).toBe(false);
    await removeFinalizer(contextOf(api), orders, one, 'example.com/ours');
  });

  it('reject with Conflict when the object has changed since it was read', async () => {
    const api = new FakeApi();
    const stored = api.put(one);
    api.put(one);
    await expect(addFinalizer(contextOf(api), orders, stored, 'example.com/ours')).rejects.toMatchObject({
      code: 'Conflict',
    });
  });
});
