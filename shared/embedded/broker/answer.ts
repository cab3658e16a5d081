import { ArcError, bytesText } from '#shared/errors';
import { type BrokerEvent, readEvent } from './event.ts';

/** The outcome of one attempt. `status` is absent when there was no HTTP answer. */
export type Outcome =
  | { kind: 'done'; reply: BrokerEvent | undefined }
  | { kind: 'failed'; retry: boolean; status: number | undefined; body: Buffer };

/** Longest answer that is read: room for a reply event. */
export const answerLimit = 1024 * 1024;

/** Retried by Knative's dispatchers beside 5xx and the lack of an answer (specs, data plane). */
const retriedClientErrors = new Set([404, 408, 409, 429]);

/** Maps an answer to what the broker does about it (Knative data-plane contract). */
export function classifyAnswer(status: number, headers: Headers, body: Buffer): Outcome {
  if (status < 200 || status >= 300) {
    return { kind: 'failed', retry: status >= 500 || retriedClientErrors.has(status), status, body };
  }
  // A 202 has accepted the work and cannot carry a reply.
  if (body.length === 0 && !headers.has('ce-specversion')) return { kind: 'done', reply: undefined };
  if (status === 202) return { kind: 'done', reply: undefined };
  try {
    const reply = readEvent(headers, body);
    if (reply !== undefined) return { kind: 'done', reply };
  } catch (caught) {
    const message = ArcError.from(caught).message;
    return {
      kind: 'failed',
      retry: true,
      status: 502,
      body: Buffer.from(`malformed reply event: ${message}`),
    };
  }
  // The most common mistake of functions is a body that is not an event. The multi-tenant broker makes it a 502.
  return { kind: 'failed', retry: true, status: 502, body };
}

/** Reads at most `limit` bytes; what goes beyond makes the read fail with RequestEntityTooLarge. */
export async function readBounded(stream: AsyncIterable<Uint8Array> | null, limit: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of stream ?? []) {
    size += chunk.length;
    if (size > limit) throw new ArcError('RequestEntityTooLarge', `a body of more than ${bytesText(limit)}`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
