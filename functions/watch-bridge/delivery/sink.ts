import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type RequestOptions,
} from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import tls from 'node:tls';
import { endOnAbort, failWhenCut, limitConnect, whenConnected } from '#shared/base/async';

/** The broker that step events are sent to: by HTTP, or in this process. */
export type Sink = HttpSink | LocalSink;

export interface HttpSink {
  url: URL;
  /** Reads the bearer token for the broker's audience; called before each delivery. Absent: no token is sent. */
  token?: () => Promise<string>;
  /** Reads the certificate authorities (PEM) trusted for the broker, in addition to the process' own; called before each delivery. */
  authorities?: () => Promise<string>;
}

/** A broker in this process needs neither connection nor token. */
export interface LocalSink {
  take(headers: Record<string, string>, body: string): Promise<SinkAnswer>;
}

export interface SinkAnswer {
  status: number;
  /** The header, unparsed. */
  retryAfter: string | undefined;
}

/**
 * Returns a function that sends one POST over kept-alive connections and reads the answer to its end. It resolves with undefined if
 * `maySend` returned false, and rejects with connection errors. Not fetch, which has one set of authorities for the
 * whole process: the authorities of the broker must not be trusted for the API server.
 *
 * @param maySend called in the turn in which the request is written: a process may be suspended while it reads a token or connects
 */
export function createPost(
  sink: Sink,
  maySend: () => boolean = () => true,
): (headers: Record<string, string>, body: string, signal: AbortSignal) => Promise<SinkAnswer | undefined> {
  if ('take' in sink) return async (headers, body) => (maySend() ? sink.take(headers, body) : undefined);
  const { url, token, authorities } = sink;
  const connect = url.protocol === 'https:' ? secure(authorities) : plain();
  return async (headers, body, signal) => {
    const bearer = await token?.();
    const { agent, request } = await connect();
    const options: RequestOptions = {
      agent,
      method: 'POST',
      headers: {
        ...headers,
        'content-length': Buffer.byteLength(body),
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      },
    };
    return exchange(request(url, options), body, signal, maySend);
  };
}

type Connection = { agent: HttpAgent; request: typeof httpRequest };

/** An idle connection is closed after this time. */
const keepAlive = { keepAlive: true, timeout: 60_000 } as const;

function plain(): () => Promise<Connection> {
  const connection = { agent: new HttpAgent(keepAlive), request: httpRequest };
  return async () => connection;
}

/** Renewed authorities apply to new connections; deliveries in flight end over the old ones. */
function secure(authorities: HttpSink['authorities']): () => Promise<Connection> {
  let trusted: string | undefined;
  let agent = new HttpsAgent(keepAlive);
  return async () => {
    const pem = (await authorities?.()) ?? '';
    if (pem !== trusted) {
      const ca = [...tls.getCACertificates('default'), ...(pem === '' ? [] : [pem])];
      agent = new HttpsAgent({ ...keepAlive, secureContext: tls.createSecureContext({ ca }) });
      trusted = pem;
    }
    return { agent, request: httpsRequest };
  };
}

function exchange(
  sent: ClientRequest,
  body: string,
  signal: AbortSignal,
  maySend: () => boolean,
): Promise<SinkAnswer | undefined> {
  const { promise, resolve, reject } = Promise.withResolvers<SinkAnswer | undefined>();
  // The address of a dead broker pod may stay in use for a while: the retry opens a new connection.
  limitConnect(sent);
  sent.on('error', reject);
  failWhenCut(sent, reject);
  endOnAbort(sent, signal);
  sent.on('response', (response) => {
    const { statusCode: status = 0, headers } = response;
    response
      .on('error', reject)
      .on('close', () => reject(new Error('the connection ended before the answer did')));
    // The body is unused, but must be read before the connection can be reused.
    response.on('end', () => resolve({ status, retryAfter: headers['retry-after'] })).resume();
  });
  // Nothing of a request is written before its `end`.
  whenConnected(sent, () => {
    if (maySend()) {
      sent.end(body);
      return;
    }
    resolve(undefined);
    sent.destroy();
  });
  return promise;
}
