import { once } from 'node:events';
import http, { type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { Readable } from 'node:stream';

/** Forwards a request to the server at `behind` (a plain HTTP origin); `change` may modify the response headers. */
export function passOn(
  behind: string,
  request: Pick<IncomingMessage, 'method' | 'url' | 'headers' | 'pipe'>,
  response: ServerResponse,
  change?: (headers: IncomingHttpHeaders) => void,
): void {
  const { method, url = '', headers } = request;
  const onward = http.request(new URL(url, behind), { method, headers }, (answer) => {
    change?.(answer.headers);
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.on('error', () => response.destroy()).pipe(response);
  });
  onward.on('error', () => response.destroy());
  request.pipe(onward);
}

/** Replays a request whose body has been read, with another path. */
export function replayed({ method = '', url = '', headers }: IncomingMessage, body: Buffer, path = url) {
  return Object.assign(Readable.from([body]), { method, url: path, headers });
}

/** Makes a server listen on a free port of 127.0.0.1; `close` ends its connections too. */
export async function listen(
  server: Server & { closeAllConnections(): void },
): Promise<{ port: number; close(): Promise<void> }> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
