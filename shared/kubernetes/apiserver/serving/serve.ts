import { constants } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { createAdaptorServer } from '@hono/node-server';
import { limitEmptyLines } from '#shared/base/async';
import { ArcError } from '#shared/base/errors';
import type { ApiServer } from '../server/server.ts';
import {
  answerMalformedRequests,
  endStalledReaders,
  limitUnauthenticatedConnections,
} from './connection-limits.ts';
import { isWatchSocket, serveWatchSockets } from './watch-socket.ts';

/** PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

export interface ServeOptions {
  certificate: Certificate;
  /** The address to listen on. */
  host: string;
  /** 0: any that is free. */
  port: number;
}

export interface Serving {
  port: number;
  /** The certificate of connections from now on; those that are open stay. Throws Invalid for one that does not fit its key. */
  reload(certificate: Certificate): void;
  /**
   * Ends in order: /readyz fails at once; everything is served for `delayMs` more, so that proxies notice; then no new
   * connection is accepted, requests in flight finish, and watches end one after the other over `spreadMs`. Resolves when all
   * connections are closed; after `graceMs` they are cut.
   */
  close(how?: { delayMs?: number; graceMs?: number; spreadMs?: number }): Promise<void>;
}

/**
 * Longer than clients keep idle connections (Go: 90 s), so that the client closes them and no request meets a
 * connection that has just been closed.
 */
const idleMs = 120_000;

/** Milliseconds in which a request may still come over a connection that was open when the server stopped listening. */
const unusedMs = 500;

/** Most connections without an authenticated request: more than arrive at once after a restart. */
const maxUnauthenticated = 4_000;

/**
 * Serves over TLS. Requests client certificates and leaves their verification to the authenticator. ALPN offers HTTP/1.1 only: a
 * connection carries one request at a time, so there are no streams to flood by opening and resetting them (docs/decisions/0007-http-1.md).
 */
export async function serve(api: ApiServer, options: ServeOptions): Promise<Serving> {
  const { host, port } = options;
  const server = createAdaptorServer({
    fetch: api.app.fetch,
    createServer,
    serverOptions: {
      ...contextOf(options.certificate),
      requestCert: true,
      rejectUnauthorized: false,
      handshakeTimeout: 10_000,
      headersTimeout: 20_000,
      requestTimeout: 65_000,
      keepAliveTimeout: idleMs,
      connectionsCheckingInterval: 5_000,
      // A front proxy sends one header line for each group of a user, and there may be thousands.
      maxHeaderSize: 256 * 1024,
      shouldUpgradeCallback: isWatchSocket,
    },
    // The Response class of @hono/node-server puts no stream around a body, which would cost a third of a GET.
    overrideGlobalObjects: true,
  }) as Server;
  server.maxHeadersCount = 10_000;
  answerMalformedRequests(server);
  limitEmptyLines(server);
  limitUnauthenticatedConnections(server, maxUnauthenticated);
  endStalledReaders(server);
  const sockets = serveWatchSockets(server, api.app.fetch);
  server.listen(port, host);
  await once(server, 'listening').catch((caught: unknown) => {
    throw new ArcError(
      'ServiceUnavailable',
      `cannot listen on ${host} port ${port}: ${listenFailure(caught)}`,
      { cause: caught },
    );
  });
  return {
    port: (server.address() as AddressInfo).port,
    reload(certificate) {
      try {
        server.setSecureContext(contextOf(certificate));
      } catch (caught) {
        const why = ArcError.from(caught).message;
        throw new ArcError('Invalid', `the serving certificate cannot be used: ${why}`);
      }
    },
    async close({ delayMs = 0, graceMs = 60_000, spreadMs = 0 } = {}) {
      if (!server.listening) return;
      api.drain();
      if (delayMs > 0) await pause(delayMs);
      const closed = once(server, 'close');
      server.close();
      // Node does not count connections that have been upgraded.
      const cut = () => {
        server.closeAllConnections();
        sockets.cut();
      };
      const impatient = setTimeout(cut, graceMs);
      await api.close({ spreadMs });
      server.closeIdleConnections();
      // Connections that were opened ahead and have carried nothing yet do not count as idle.
      await Promise.race([closed, pause(unusedMs)]);
      await api.close(); // answers a request that came over one of them
      cut();
      await closed;
      clearTimeout(impatient);
    },
  };
}

function listenFailure(caught: unknown): string {
  const code = caught instanceof Error && 'code' in caught ? caught.code : undefined;
  if (code === 'EADDRINUSE') return 'another program uses it: stop that, or choose another port';
  if (code === 'EACCES') return 'your user may not use it: choose one above 1023';
  return ArcError.from(caught).message;
}

/**
 * Sessions are not resumed: a resumed session has no certificate, and Node calls it authorized nevertheless. Renegotiation
 * would let a connection change its certificate.
 */
function contextOf({ cert, key }: Certificate) {
  const { SSL_OP_NO_TICKET, SSL_OP_NO_RENEGOTIATION } = constants;
  return {
    cert,
    key,
    minVersion: 'TLSv1.2',
    secureOptions: SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION,
  } as const;
}
