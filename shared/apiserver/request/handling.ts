import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { AuditedRequest } from '../audit/auditor.ts';
import { connectionOf } from '../authentication/connection.ts';
import type { Exchange } from './exchange.ts';

/** A request from its arrival until the last byte of its response. */
export interface Handling {
  exchange: Exchange;
  audited: AuditedRequest | undefined;
  /** What the client is told beside the answer, also beside a failure. */
  warnings: string[];
  /** Calls `callback` when the response is out or its client has left. */
  atEnd(callback: () => void): void;
  /** Bytes of the response that have gone to the socket, its head included; undefined where there is none. */
  written(): number | undefined;
  end(): void;
}

/** A caller's own Audit-ID is kept. @param env as @hono/node-server gives it, or nothing */
export function beginHandling(request: Request, env: unknown, now: Date): Handling {
  const callbacks: (() => void)[] = [];
  const socket = outgoingOf(env)?.socket ?? undefined;
  const before = socket?.bytesWritten ?? 0;
  const outgoing = outgoingOf(env);
  let isOver = outgoing?.closed === true || outgoing?.destroyed === true;
  const end = () => {
    isOver = true;
    for (const callback of callbacks.splice(0)) callback();
  };
  outgoing?.once('close', end);
  const audit = request.headers.get('audit-id') ?? '';
  return {
    exchange: {
      request,
      url: new URL(request.url),
      connection: connectionOf(env),
      auditId: /^[\x21-\x7e]{1,64}$/.test(audit) ? audit : randomUUID(),
      receivedAt: now,
      startedAt: performance.now(),
    },
    audited: undefined,
    warnings: [],
    atEnd(callback) {
      if (isOver) callback();
      else callbacks.push(callback);
    },
    // Requests of one connection follow one another, so what was written since then is this response.
    written: () => (socket ? socket.bytesWritten - before : undefined),
    end,
  };
}

/** False where no socket carries the response, so that nobody tells when it is out. */
export function isServed(env: unknown): boolean {
  return outgoingOf(env) !== undefined;
}

function outgoingOf(env: unknown): ServerResponse | undefined {
  return (env as { outgoing?: ServerResponse } | undefined)?.outgoing;
}
