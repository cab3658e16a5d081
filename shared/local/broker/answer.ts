import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { ArcError, bytesText } from '#shared/base/errors';
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
export function classifyAnswer(status: number, headers: IncomingHttpHeaders, body: Buffer): Outcome {
  if (status < 200 || status >= 300) {
    return { kind: 'failed', retry: status >= 500 || retriedClientErrors.has(status), status, body };
  }
  // A 202 has accepted the work and cannot carry a reply.
  if (body.length === 0 && headers['ce-specversion'] === undefined) return { kind: 'done', reply: undefined };
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

/**
 * Reads at most `limit` bytes. Rejects with RequestEntityTooLarge where there are more, which are left unread, and with the error of a
 * connection that ends too early. By its events, because to iterate costs more than the body.
 */
export function readBounded(stream: IncomingMessage, limit: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let size = 0;
  const read = (chunk: Buffer) => {
    size += chunk.length;
    if (size <= limit) {
      chunks.push(chunk);
      return;
    }
    stream.off('data', read).pause();
    reject(new ArcError('RequestEntityTooLarge', `a body of more than ${bytesText(limit)}`));
  };
  stream
    .on('data', read)
    .on('end', () => resolve(Buffer.concat(chunks)))
    .on('error', reject)
    .on('close', () => reject(stream.errored ?? new Error('the connection ended before the body did')));
  return promise;
}
