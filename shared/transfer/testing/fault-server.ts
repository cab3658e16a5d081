import { once } from 'node:events';
import http, { type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface SeenRequest {
  method: string;
  /** Path and query. */
  path: string;
  headers: http.IncomingHttpHeaders;
}

/** A fault of a request: another response, or a response cut after some bytes of its body. */
export type Fault =
  | { status: number; headers?: http.OutgoingHttpHeaders; body?: string }
  | { cutAfter: number }
  | { reset: true }
  | undefined;

/** A loopback server for tests that can fail at every request. */
export interface FaultServer {
  /** `http://127.0.0.1:<port>`. */
  url: string;
  requests: SeenRequest[];
  /** Decides about each request by its number, from 0. */
  fault: (request: SeenRequest, index: number) => Fault;
  close(): Promise<void>;
}

const maxBody = 64 * 1024 * 1024;

/** Starts a server with the handler `serve`. */
export async function startFaultServer(
  serve: (request: SeenRequest, body: Buffer, response: ServerResponse) => void,
): Promise<FaultServer> {
  const server: FaultServer = {
    url: '',
    requests: [],
    fault: () => undefined,
    async close() {
      const closed = once(listener, 'close');
      listener.close();
      listener.closeAllConnections();
      await closed;
    },
  };
  const listener = http.createServer((incoming, response) => {
    const seen = { method: incoming.method ?? '', path: incoming.url ?? '', headers: incoming.headers };
    const fault = server.fault(seen, server.requests.push(seen) - 1);
    handle(incoming, response, fault, (body) => serve(seen, body, response));
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  server.url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  return server;
}

function handle(
  incoming: IncomingMessage,
  response: ServerResponse,
  fault: Fault,
  serve: (body: Buffer) => void,
): void {
  if (fault && 'reset' in fault) {
    incoming.destroy();
    return;
  }
  if (fault && 'cutAfter' in fault) cut(response, fault.cutAfter);
  const chunks: Buffer[] = [];
  let length = 0;
  incoming.on('data', (chunk: Buffer) => {
    length += chunk.length;
    if (length > maxBody) incoming.destroy();
    chunks.push(chunk);
  });
  // An incomplete body has no effect.
  incoming.on('error', () => undefined);
  incoming.on('end', () => {
    if (!incoming.complete) return;
    if (fault && 'status' in fault) response.writeHead(fault.status, fault.headers).end(fault.body);
    else serve(Buffer.concat(chunks));
  });
}

/** Closes the connection after some bytes of the body. */
function cut(response: ServerResponse, bytes: number): void {
  const end = response.end.bind(response);
  response.end = (body?: unknown) => {
    const whole = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : '');
    if (whole.length <= bytes) return end(whole);
    response.write(whole.subarray(0, bytes), () => response.destroy());
    return response;
  };
}
