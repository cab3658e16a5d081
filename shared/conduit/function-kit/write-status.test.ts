import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import type { Kind } from '#shared/kubernetes/client';
import { FakeApi } from '../../kubernetes/client/testing/fake-api/fake-api.ts';
import { contextOf } from '../runtime/testing/handler-context.ts';
import { writeStatus } from './write-status.ts';

const things: Kind = { apiVersion: 'v1', kind: 'Thing', plural: 'things', namespaced: true };
const thing = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'one', namespace: 'n' } };

describe('writeStatus', () => {
  it('writes the given fields and removes those that are null', async () => {
    const api = new FakeApi();
    const present = api.put({ ...thing, status: { phase: 'Running', message: 'old' } });
    const written = await writeStatus(contextOf(api), things, present, { phase: 'Failed', message: null });
    expect(written?.status).toEqual({ phase: 'Failed' });
    expect(api.read(things, thing.metadata)).toEqual(written);
  });

  it('writes nothing when the fields have these values already', async () => {
    const api = new FakeApi();
    const present = api.put({ ...thing, status: { phase: 'Failed', configSecret: { name: 'one' } } });
    const patch = { configSecret: { name: 'one' }, phase: 'Failed', message: null };
    expect(await writeStatus(contextOf(api), things, present, patch)).toEqual(present);
    expect(api.writes).toEqual([]);
  });

  it('rejects with Conflict when the object has changed since it was read', async () => {
    const api = new FakeApi();
    const present = api.put(thing);
    api.put(thing);
    const late = writeStatus(contextOf(api), things, present, { phase: 'Failed' });
    await expect(late).rejects.toMatchObject({ code: 'Conflict' });
  });

  it('resolves with undefined when the object is gone', async () => {
    expect(await writeStatus(contextOf(new FakeApi()), things, thing, { phase: 'Failed' })).toBeUndefined();
  });

  it.each(['Forbidden', 'NotFound'] as const)(
    'rejects with %s when it does not concern the object',
    async (code) => {
      const api = new FakeApi([thing]);
      api.before = () => {
        throw new ArcError(code, 'the server does not know the kind');
      };
      const refused = writeStatus(contextOf(api), things, thing, { phase: 'Failed' });
      await expect(refused).rejects.toMatchObject({ code });
    },
  );
});
