import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createLogger, type TraceContext } from '#shared/base/telemetry';
import { stepEvent, toBinaryRequest } from '#shared/conduit/events';
import { createKubeClient } from '#shared/kubernetes/client';

/** Support for the tests of this room: an event, a log that can be read, a client without a server. */
export const trace = {
  traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  tracestate: 'a=b',
};

export function orderEvent(trace?: TraceContext) {
  return stepEvent({
    object: {
      apiVersion: 'arc.opendefense.cloud/v1alpha1',
      kind: 'Order',
      namespace: 'n',
      name: 'o',
      uid: 'u',
    },
    observed: {
      apiVersion: 'v1',
      kind: 'Secret',
      namespace: 'n',
      name: 's',
      uid: 'w',
      resourceVersion: '12',
    },
    step: 'decompose',
    reason: 'generation 2',
    partitionKey: 'u',
    trace,
    time: new Date('2026-01-02T03:04:05Z'),
  });
}

export function post(trace?: TraceContext): {
  method: string;
  headers: Record<string, string>;
  body: string;
} {
  return { method: 'POST', ...toBinaryRequest(orderEvent(trace)) };
}

export function parts() {
  const lines: Record<string, unknown>[] = [];
  const log = createLogger({
    name: 'unit',
    level: 'debug',
    destination: { write: (line: string) => void lines.push(JSON.parse(line)) },
  });
  const api = createKubeClient({ server: 'http://127.0.0.1:9', userAgent: 'unit' });
  return { lines, name: 'unit', log, api, env: {}, now: () => new Date('2026-01-02T03:04:07Z') };
}

/** Opens a connection on which requests are written by hand, which shows what fetch hides. */
export async function rawConnection(url: string): Promise<{ socket: Socket; received: () => string }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let text = '';
  socket.on('data', (piece) => {
    text += piece.toString('utf8');
  });
  await once(socket, 'connect');
  return { socket, received: () => text };
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Waits until `check` is true; after `ms` rejects with the label. */
export async function until(label: string, check: () => boolean, ms = 10_000): Promise<void> {
  const end = performance.now() + ms;
  while (!check()) {
    if (performance.now() > end) throw new Error(`waited ${ms} ms for ${label}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
