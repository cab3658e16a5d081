import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import type { UserName } from './corpus/scenario.ts';

/** One of the two servers: where it is, the API group its kinds are in, a token for each user of the corpus. */
export interface Server {
  name: 'ours' | 'reference';
  url: string;
  ca: string;
  group: string;
  tokens: Readonly<Record<UserName, string>>;
}

/** A request as it goes on the wire. */
export interface RawRequest {
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | Buffer | undefined;
}

/** What came back: `text` of the whole body, or of what was read of a watch. */
export interface RawResponse {
  code: number;
  headers: IncomingMessage['headers'];
  warnings: string[];
  text: string;
}

/** How much of a watch is read. */
export interface Bound {
  /** Lines to wait for. */
  lines: number;
  /** What happens between the response's header and the reading. */
  during(): Promise<void>;
}

/** How long a watch is read for lines that should not come, and at most for those that should; ms. */
const graceMs = 150;
const answerTimeoutMs = 20_000;

/** Sends requests to one server over kept-alive connections. */
export class Client {
  readonly server: Server;
  readonly #agent: Agent;

  constructor(server: Server) {
    this.server = server;
    this.#agent = new Agent({ keepAlive: true, ca: server.ca });
  }

  close(): void {
    this.#agent.destroy();
  }

  async send(raw: RawRequest, bound?: Bound): Promise<RawResponse> {
    const response = await this.#open(raw).catch((caught: NodeJS.ErrnoException) => caught);
    if (response instanceof Error) return brokenOff(response);
    const text =
      bound && response.statusCode === 200 ? await readBounded(response, bound) : await readAll(response);
    const warning: string | string[] | undefined = response.headersDistinct.warning;
    return { code: response.statusCode ?? 0, headers: response.headers, warnings: warning ?? [], text };
  }

  async #open({ method, path, headers, body }: RawRequest): Promise<IncomingMessage> {
    const { origin } = new URL(this.server.url);
    const outgoing = request(`${origin}/`, {
      path,
      method,
      agent: this.#agent,
      headers: { ...headers, ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }) },
      timeout: 70_000,
    });
    outgoing.end(body);
    // A server may answer and close before it has read a body that is too long: the answer counts.
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once('response', resolve);
      outgoing.on('error', reject);
    });
    return response;
  }
}

/** No answer at all: compared like one, with code 0. */
function brokenOff({ code, message }: NodeJS.ErrnoException): RawResponse {
  return { code: 0, headers: {}, warnings: [], text: `no answer: ${code ?? message}` };
}

async function readAll(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  return (response.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body).toString('utf8');
}

/** Reads until the lines are there and a moment longer, in case there is one too many. */
async function readBounded(response: IncomingMessage, bound: Bound): Promise<string> {
  let text = '';
  let ended = false;
  response.setEncoding('utf8');
  response.on('data', (chunk: string) => {
    text += chunk;
  });
  const end = () => {
    ended = true;
  };
  response.once('end', end).once('close', end).once('error', end);
  await bound.during();
  const until = Date.now() + answerTimeoutMs;
  while (!ended && Date.now() < until && text.split('\n').length - 1 < bound.lines) await sleep(10);
  if (!ended) await sleep(graceMs);
  response.destroy();
  return text;
}
