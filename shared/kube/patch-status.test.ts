import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/errors';
import { FakeKube } from '../../test/fixtures/fake-kube.ts';
import type { Kind } from './client.ts';
import { patchStatus } from './patch-status.ts';

const things: Kind = { apiVersion: 'v1', kind: 'Thing', plural: 'things', namespaced: true };
const thing = { apiVersion: 'v1', kind: 'Thing', metadata: { name: 'one', namespace: 'n' } };

describe('patchStatus', () => {
  it('writes the fields given and removes those that are null', async () => {
    const api = new FakeKube();
    const present = api.put({ ...thing, status: { phase: 'Running', message: 'old' } });
    const written = await patchStatus(api, things, present, { phase: 'Failed', message: null });
    expect(written?.status).toEqual({ phase: 'Failed' });
    expect(api.read(things, thing.metadata)).toEqual(written);
  });

  it('is refused when somebody else was faster', async () => {
    const api = new FakeKube();
    const present = api.put(thing);
    api.put(thing);
    const late = patchStatus(api, things, present, { phase: 'Failed' });
    await expect(late).rejects.toMatchObject({ code: 'Conflict' });
  });

  it('says that the object is gone', async () => {
    expect(await patchStatus(new FakeKube(), things, thing, { phase: 'Failed' })).toBeUndefined();
  });

  it.each(['Forbidden', 'NotFound'] as const)('passes on %s that is not about the object', async (code) => {
    const api = new FakeKube(thing);
    api.before = () => {
      throw new ArcError(code, 'the server does not know the kind');
    };
    const refused = patchStatus(api, things, thing, { phase: 'Failed' });
    await expect(refused).rejects.toMatchObject({ code });
  });
});
