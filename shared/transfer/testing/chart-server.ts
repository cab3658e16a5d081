import { once } from 'node:events';
import {
  createServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

interface SeenRequest {
  path: string;
  headers: IncomingHttpHeaders;
}

type Fault = { status: number; headers?: OutgoingHttpHeaders } | { cutAfter: number } | undefined;

/** A server with files by path, such as `/charts/index.yaml`, whose every request can go wrong. */
export interface ChartServer {
  /** `http://127.0.0.1:<port>`. */
  url: string;
  files: Map<string, Buffer>;
  requests: SeenRequest[];
  fault: (request: SeenRequest) => Fault;
  close(): Promise<void>;
}

/** Starts an empty one on loopback. It answers 401 without `account`, which is `username:password`. */
export async function startChartServer(account?: string): Promise<ChartServer> {
  const listener = createServer((incoming, response) => {
    const request = { path: incoming.url ?? '', headers: incoming.headers };
    server.requests.push(request);
    const fault = server.fault(request);
    const known =
      account === undefined ||
      incoming.headers.authorization === `Basic ${Buffer.from(account).toString('base64')}`;
    const bytes = server.files.get(new URL(request.path, server.url).pathname);
    if (fault && 'status' in fault) response.writeHead(fault.status, fault.headers).end();
    else if (!known) response.writeHead(401, { 'www-authenticate': 'Basic realm="charts"' }).end();
    else if (!bytes) response.writeHead(404).end();
    else
      send(
        response,
        bytes,
        Number(/^bytes=(\d+)-$/.exec(incoming.headers.range ?? '')?.[1] ?? 0),
        fault?.cutAfter,
      );
  });
  const server: ChartServer = {
    url: '',
    files: new Map(),
    requests: [],
    fault: () => undefined,
    async close() {
      const closed = once(listener, 'close');
      listener.close();
      listener.closeAllConnections();
      await closed;
    },
  };
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  server.url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`;
  return server;
}

/** Sends a file from a byte on, or breaks the connection after some bytes. */
function send(response: ServerResponse, bytes: Buffer, from: number, cutAfter: number | undefined): void {
  const part = bytes.subarray(from);
  const range = from > 0 ? { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` } : {};
  response.writeHead(from > 0 ? 206 : 200, { ...range, etag: '"1"', 'content-length': part.length });
  if (cutAfter === undefined) response.end(part);
  else response.write(part.subarray(0, cutAfter), () => response.destroy());
}
