import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';
import type { ApiServer } from '#shared/apiserver';
import { ArcError } from '#shared/errors';
import type { Pki } from './pki.ts';

/** Serves the API over TLS on loopback; `close` ends watches, lets requests in flight finish, and resolves. */
export async function serveApi(
  api: ApiServer,
  pki: Pki,
  port: number,
): Promise<{ url: string; port: number; close(): Promise<void> }> {
  const server = createAdaptorServer({
    fetch: api.app.fetch,
    createServer,
    serverOptions: { key: pki.key, cert: pki.cert, keepAliveTimeout: 620_000, headersTimeout: 20_000 },
    overrideGlobalObjects: false,
  }) as Server;
  server.listen(port, '127.0.0.1');
  await once(server, 'listening').catch((caught: unknown) => {
    throw new ArcError('ServiceUnavailable', `cannot listen on port ${port}: ${listenFailure(caught)}`, {
      cause: caught,
    });
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${taken}`,
    port: taken,
    async close() {
      const closed = once(server, 'close');
      server.close();
      const impatient = setTimeout(() => server.closeAllConnections(), 2_000);
      await api.close();
      server.closeIdleConnections();
      await closed;
      clearTimeout(impatient);
    },
  };
}

function listenFailure(caught: unknown): string {
  const code = caught instanceof Error && 'code' in caught ? caught.code : undefined;
  if (code === 'EADDRINUSE') return 'another program uses it; stop that, or choose another with --port';
  if (code === 'EACCES') return 'your user may not use it; choose one above 1023 with --port';
  return ArcError.from(caught).message;
}
