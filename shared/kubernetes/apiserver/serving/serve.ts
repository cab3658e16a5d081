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
  idleTimeoutMs,
  limitUnauthenticatedConnections,
} from './connection-limits.ts';
import { serveHttp2 } from './http2.ts';
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
  /** 0: any free port. */
  port: number;
  /** Does not offer HTTP/2. */
  onlyHttp1?: boolean;
}

export interface Serving {
  port: number;
  /** Replaces the certificate for new connections; open connections stay. Throws Invalid if certificate and key do not match. */
  reload(certificate: Certificate): void;
  /**
   * Shuts down gracefully: /readyz fails immediately; for `delayMs` all requests are still served, so that load balancers notice; then the
   * server stops listening, requests in flight finish, and watches end at random times within `spreadMs`. Resolves when all
   * connections are closed, at the latest after `graceMs`.
   */
  close(how?: { delayMs?: number; graceMs?: number; spreadMs?: number }): Promise<void>;
}

/** Milliseconds after shutdown in which an unused connection that is already open may still carry its first request. */
const unusedConnectionMs = 500;

/** Limit of connections without an authenticated request; above the number of clients that reconnect after a restart. */
const maxUnauthenticatedConnections = 4_000;

/**
 * Serves over TLS: HTTP/2 to clients that offer it by ALPN, HTTP/1.1 to all others. Requests client certificates and leaves their
 * verification to the authenticator.
 */
export async function serve(api: ApiServer, options: ServeOptions): Promise<Serving> {
  const { host, port, onlyHttp1 = false } = options;
  const server = createAdaptorServer({
    fetch: api.app.fetch,
    createServer,
    serverOptions: {
      ...contextOf(options.certificate),
      requestCert: true,
      rejectUnauthorized: false,
      ALPNProtocols: onlyHttp1 ? ['http/1.1'] : ['h2', 'http/1.1'],
      handshakeTimeout: 10_000,
      headersTimeout: 20_000,
      requestTimeout: 65_000,
      keepAliveTimeout: idleTimeoutMs,
      connectionsCheckingInterval: 5_000,
      // A front proxy sends one header line per group of a user; a user may have thousands of groups.
      maxHeaderSize: 256 * 1024,
      shouldUpgradeCallback: isWatchSocket,
    },
    // The Response class of @hono/node-server does not wrap a body in a stream, which would cost a third of a GET.
    overrideGlobalObjects: true,
  }) as Server;
  server.maxHeadersCount = 10_000;
  answerMalformedRequests(server);
  limitEmptyLines(server);
  const http2 = serveHttp2(server, api);
  limitUnauthenticatedConnections(server, maxUnauthenticatedConnections);
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
        const reason = ArcError.from(caught).message;
        throw new ArcError('Invalid', `the serving certificate cannot be used: ${reason}`);
      }
    },
    async close({ delayMs = 0, graceMs = 60_000, spreadMs = 0 } = {}) {
      if (!server.listening) return;
      api.drain();
      if (delayMs > 0) await pause(delayMs);
      const closed = once(server, 'close');
      server.close();
      // Sent late: most clients receive GOAWAY with a response. Requests that cross a GOAWAY on the way are not processed.
      const goAwayTimer = setTimeout(() => http2.goAway(), unusedConnectionMs / 2);
      // closeAllConnections ignores upgraded connections.
      const destroyConnections = () => {
        server.closeAllConnections();
        sockets.destroyAll();
        http2.destroyAll();
      };
      const graceTimer = setTimeout(destroyConnections, graceMs);
      await api.close({ spreadMs });
      server.closeIdleConnections();
      // Node does not count connections as idle that have not carried a request yet.
      await Promise.race([closed, pause(unusedConnectionMs)]);
      await api.close(); // waits for requests that arrived over such a connection
      destroyConnections();
      await closed;
      clearTimeout(graceTimer);
      clearTimeout(goAwayTimer);
    },
  };
}

function listenFailure(caught: unknown): string {
  const code = caught instanceof Error && 'code' in caught ? caught.code : undefined;
  if (code === 'EADDRINUSE') return 'the port is in use: stop the other program, or choose another port';
  if (code === 'EACCES') return 'your user may not use this port: choose a port above 1023';
  return ArcError.from(caught).message;
}

/**
 * Disables session resumption: a resumed session has no certificate, but Node reports it as authorized. Disables renegotiation, which
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
