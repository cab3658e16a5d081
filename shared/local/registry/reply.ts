import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './faults.ts';

/** An answer before it is sent, so that a fault can spoil it. */
export interface Reply {
  status: number;
  headers?: Record<string, string>;
  body?: Buffer;
}

/** An error in the form of the distribution specification. */
export function errorReply(
  status: number,
  code: string,
  message: string,
  headers: Record<string, string> = {},
): Reply {
  const body = Buffer.from(JSON.stringify({ errors: [{ code, message }] }));
  return { status, headers: { 'content-type': 'application/json', ...headers }, body };
}

export function jsonReply(
  value: unknown,
  contentType = 'application/json',
  headers: Record<string, string> = {},
): Reply {
  return {
    status: 200,
    headers: { 'content-type': contentType, ...headers },
    body: Buffer.from(JSON.stringify(value)),
  };
}

/** Sends the reply, spoiled as the fault says. HEAD gets the headers alone. */
export async function sendReply(
  response: ServerResponse,
  reply: Reply,
  head: boolean,
  fault?: Fault,
): Promise<void> {
  const body = spoiled(reply.body ?? Buffer.alloc(0), fault);
  response.writeHead(reply.status, { 'content-length': String(body.length), ...reply.headers });
  if (head || body.length === 0) {
    response.end();
    return;
  }
  if (fault?.kind === 'truncate') {
    response.write(body.subarray(0, fault.bytes), () => response.socket?.destroySoon());
    return;
  }
  if (fault?.kind === 'drip') {
    for (let at = 0; at < body.length && !response.destroyed; at += fault.bytes) {
      response.write(body.subarray(at, at + fault.bytes));
      await sleep(fault.everyMs);
    }
  }
  response.end(fault?.kind === 'drip' ? undefined : body);
}

function spoiled(body: Buffer, fault: Fault | undefined): Buffer {
  if (fault?.kind !== 'corrupt' || body.length === 0) return body;
  const other = Buffer.from(body);
  const middle = Math.floor(other.length / 2);
  other[middle] = (other[middle] ?? 0) ^ 1;
  return other;
}
