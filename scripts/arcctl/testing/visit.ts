import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { Readable } from 'node:stream';

interface Visit {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  signal?: AbortSignal;
}

/** Sends a request as a browser does, which finds every name below `localhost` on this machine; follows no redirect. */
export async function visit(
  url: string | URL,
  { body, headers = {}, ...rest }: Visit = {},
): Promise<Response> {
  const { host, port, pathname, search } = new URL(url);
  const options = { ...rest, host: '127.0.0.1', port, path: `${pathname}${search}`, agent: false };
  const outgoing = request({ ...options, headers: { host, ...headers } });
  outgoing.end(body);
  const [answer] = (await once(outgoing, 'response')) as [IncomingMessage];
  const { statusCode: status = 0, rawHeaders } = answer;
  const pairs = rawHeaders.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? '']] : [],
  );
  const isEmpty = status === 204 || status === 304;
  if (isEmpty) answer.resume();
  return new Response(isEmpty ? null : (Readable.toWeb(answer) as ReadableStream), {
    status,
    headers: pairs,
  });
}

/** Opens the printed address of a dashboard; returns the cookie that it gives. */
export async function signIn(url: string): Promise<string> {
  const answer = await visit(url);
  await answer.text();
  return answer.headers.get('set-cookie')?.split(';')[0] ?? '';
}
