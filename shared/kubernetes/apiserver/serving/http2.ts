import { performServerHandshake, type ServerHttp2Session } from 'node:http2';
import type { Server } from 'node:https';
import type { TLSSocket } from 'node:tls';
import type { ApiServer } from '../server/server.ts';
import { boundSession, defaultPatience, type Patience, sessionOptions } from './http2-bounds.ts';
import { answerStream } from './http2-stream.ts';

/** The HTTP/2 connections of a server. */
export interface Http2Connections {
  /** Sends GOAWAY on every connection: its client opens no further streams, and open streams finish. */
  goAway(): void;
  /** Destroys every connection. */
  destroyAll(): void;
}

/**
 * Serves the connections of `server` that negotiated HTTP/2. Listeners for secure connections that were added before are for HTTP/1.1:
 * they no longer see these connections.
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
    // Every stream of the session has ended then, and with it its request.
    session.on('error', () => undefined);
    const admit = boundSession(session, socket, patience);
    session.on('stream', (stream, headers, _flags, rawHeaders) => {
      if (!admit(stream, rawHeaders)) return;
      // GOAWAY goes with the response: of what the client sends before it has read that, nothing is processed.
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
