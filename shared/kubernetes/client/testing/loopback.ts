import { once } from 'node:events';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A real server on loopback for tests of aborts and broken streams. */
export interface Loopback {
  url: string;
  port: number;
  close(): Promise<void>;
}

export async function startLoopback(listener: RequestListener, port = 0): Promise<Loopback> {
  const server = createServer(listener).listen(port, '127.0.0.1');
  await once(server, 'listening');
  const taken = (server.address() as AddressInfo).port;
  return {
    url: `http://127.0.0.1:${taken}`,
    port: taken,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

export function answer(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}

export function statusBody(code: number, reason: string, message: string, details?: object) {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    code,
    reason,
    message,
    ...(details && { details }),
  };
}

/** Waits until `check` returns a value. Rejects with `label` on timeout. */
export async function until<T>(label: string, check: () => T | undefined | false, ms = 10_000): Promise<T> {
  const end = performance.now() + ms;
  while (performance.now() < end) {
    const found = check();
    if (found !== undefined && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error(`waited ${ms} ms for ${label}`);
}

/** Resolves with all items of an async iterable. */
export async function collect<T>(source: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const item of source) all.push(item);
  return all;
}
