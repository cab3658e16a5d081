import type { Order } from '#shared/domain';
import { contextOf, eventOf } from '../../../shared/conduit/runtime/testing/handler-context.ts';
import { endpoint, ociTemplate, ociType } from '../../../shared/domain/testing/objects.ts';
import type { FakeApi } from '../../../shared/kubernetes/client/testing/fake-api/fake-api.ts';
import { handle } from '../index.ts';

export const known = [endpoint('source'), endpoint('destination')];

/** The objects that an Order of `images` refers to. */
export const inputs = [...known, ociTemplate(), ociType()];
export const images = ['team/app:1', 'team/web:1', 'team/db:1'];

/** Calls the function with an event of this Order. */
export function decompose(api: FakeApi, object: Order): Promise<undefined> {
  return handle(contextOf(api), eventOf(object));
}
