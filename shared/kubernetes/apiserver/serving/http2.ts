import { performServerHandshake, type ServerHttp2Session } from 'node:http2';
import type { Server } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { ApiServer } from '../server/server.ts';
import { boundSession, defaultPatience, type Patience, sessionOptions } from './http2-bounds.ts';
import { answerStream } from './http2-stream.ts';

/** The open HTTP/2 connections of a server. */
export interface Http2Connections {
  /** Drains: sends GOAWAY on every connection, so that open streams finish and no further ones are opened. */
  goAway(): void;
  /** Destroys every connection. */
  destroyAll(): void;
}

/**
 * Serves the connections of `server` that negotiated HTTP/2 by ALPN. Existing `secureConnection` listeners keep serving HTTP/1.1 connections only.
 */
export function serveHttp2(
  server: Server,
  api: Pick<ApiServer, 'call'>,
  patience: Patience = defaultPatience,
): Http2Connections {
  const open = new Map<TLSSocket, ServerHttp2Session>();

  const begin = (socket: TLSSocket) => {
    const session = performServerHandshake(socket, sessionOptions);
    open.set(socket, session);
    socket.once('close', () => open.delete(socket));
    // The streams, and with them the requests, have ended by then.
    session.on('error', () => undefined);
    const admit = boundSession(session, socket, patience);
    session.on('stream', (stream, headers, _flags, rawHeaders) => {
      if (!admit(stream, rawHeaders)) return;
      // GOAWAY goes out with the response, because requests that arrive between the two are dropped.
      const onLast = () => session.close();
      void answerStream({ stream, headers, rawHeaders, socket, onLast }, api);
    });
  };

  const http1 = server.listeners('secureConnection');
  server.removeAllListeners('secureConnection');
  server.on('secureConnection', (socket) => {
    if (socket.alpnProtocol === 'h2') begin(socket);
    else for (const listener of http1) listener.call(server, socket);
  });
  return {
    goAway() {
      for (const session of open.values()) session.close();
    },
    destroyAll() {
      for (const socket of open.keys()) socket.destroy();
    },
  };
}
