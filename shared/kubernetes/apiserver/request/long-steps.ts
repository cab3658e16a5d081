import { breathe } from '#shared/base/async';
import type { ApiRequest } from './api-request.ts';

/** A request that works on less takes a few ms in all. */
const longBytes = 64 * 1024;

/** Lets other requests run between two steps of one that works on a large body or object: each of them may take tens of ms. */
export async function betweenSteps({
  body,
  objectBytes,
}: Pick<ApiRequest, 'body' | 'objectBytes'>): Promise<void> {
  if ((body?.byteLength ?? 0) + objectBytes >= longBytes) await breathe();
}
