import { Agent as HttpAgent, request as httpRequest, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import tls from 'node:tls';

/** Where wakes are sent, and what it takes to be let in. */
export interface Sink {
  url: URL;
  /** The bearer token for the broker's audience, asked for before each delivery. Absent: none is sent. */
  token?: () => Promise<string>;
  /** PEM of the authorities that are trusted for the broker, beside those of the process; asked for before each delivery. */
  authorities?: () => Promise<string>;
}

export interface SinkAnswer {
  status: number;
  /** The header as it stands. */
  retryAfter: string | undefined;
}

/**
 * Sends one POST and reads the answer to its end, over connections that are kept. Rejects with what went wrong on the way. Not by
 * fetch, which trusts one set of authorities for the whole process: who vouches for the broker has no say about the API server.
 */
export function createPost(
  sink: Sink,
): (headers: Record<string, string>, body: string, signal: AbortSignal) => Promise<SinkAnswer> {
  const { url, token, authorities } = sink;
  const connect = url.protocol === 'https:' ? secure(authorities) : plain();
  return async (headers, body, signal) => {
    const bearer = await token?.();
    return exchange(await connect(), url, body, {
      method: 'POST',
      headers: {
        ...headers,
        'content-length': Buffer.byteLength(body),
        ...(bearer !== undefined && { authorization: `Bearer ${bearer}` }),
      },
      signal,
    });
  };
}

type Connection = { agent: HttpAgent; request: typeof httpRequest };

/** Kept connections are closed when nothing was sent for so long. */
const keep = { keepAlive: true, timeout: 60_000 } as const;

function plain(): () => Promise<Connection> {
  const connection = { agent: new HttpAgent(keep), request: httpRequest };
  return async () => connection;
}

/** Renewed authorities count from the next connection on; deliveries under way end over the old ones. */
function secure(authorities: Sink['authorities']): () => Promise<Connection> {
  let trusted: string | undefined;
  let agent = new HttpsAgent(keep);
  return async () => {
    const pem = (await authorities?.()) ?? '';
    if (pem !== trusted) {
      const ca = [...tls.getCACertificates('default'), ...(pem === '' ? [] : [pem])];
      agent = new HttpsAgent({ ...keep, secureContext: tls.createSecureContext({ ca }) });
      trusted = pem;
    }
    return { agent, request: httpsRequest };
  };
}

function exchange(
  { agent, request }: Connection,
  url: URL,
  body: string,
  options: RequestOptions,
): Promise<SinkAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<SinkAnswer>();
  const sent = request(url, { ...options, agent });
  sent.on('error', reject);
  sent.on('response', (response) => {
    const { statusCode: status = 0, headers } = response;
    response.on('error', reject);
    // The body says nothing that is needed, but has to be read for the connection to be used again.
    response.on('end', () => resolve({ status, retryAfter: headers['retry-after'] })).resume();
  });
  sent.end(body);
  return promise;
}
