import { describe, expect, it } from 'vitest';
import { ArcError } from '#shared/base/errors';
import { events } from '#shared/domain';
import { order } from '../../domain/testing/objects.ts';
import { FakeApi } from '../../kubernetes/client/testing/fake-api/fake-api.ts';
import { contextOf } from '../runtime/testing/handler-context.ts';
import { recordEvent } from './record-event.ts';

const one = order('one', ['a:1']);
const statement = { regarding: one, reason: 'NameTaken', message: 'delete it', component: 'unit' } as const;

describe('recordEvent', () => {
  it('resolves although the API refuses the Event', async () => {
    const api = new FakeApi([one]);
    api.before = () => {
      throw new ArcError('Forbidden', 'no Events here');
    };
    await recordEvent(contextOf(api), { ...statement, type: 'Normal' });
    expect(api.all(events)).toEqual([]);
  });
});
