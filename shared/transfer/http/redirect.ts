import { readBody, type Wire, type WireAnswer, type WireRequest } from './http-client.ts';

const mostRedirects = 5;
const longestBody = 64 * 1024;
const anyMethod = new Set([307, 308]);
const readOnly = new Set([301, 302, 303, ...anyMethod]);

export interface Redirects {
  /** True for an address that may see the Authorization header. */
  trusted: (url: URL) => boolean;
  /** True for an address that may be asked at all. */
  allowed: (url: URL) => boolean;
  /** Called with each address before it is asked. */
  asking?: (url: URL) => void;
}

/**
 * True if `url` belongs to the server at `origin`: the same scheme, host and port, or the same host asked by https where it
 * was http, which is how servers move clients to TLS.
 */
export function isSameServer(origin: URL, url: URL): boolean {
  const upgraded = origin.protocol === 'http:' && url.protocol === 'https:';
  return url.origin === origin.origin || (upgraded && url.hostname === origin.hostname);
}

/**
 * Sends a request and follows redirects: of GET and HEAD all kinds, of others those that keep the method (RFC 9110, 15.4).
 * The last answer and where it came from; a redirect that cannot be followed is an answer like any other.
 */
export async function sendFollowing(
  wire: Wire,
  request: WireRequest,
  redirects: Redirects,
): Promise<{ answer: WireAnswer; url: URL }> {
  const { authorization, ...others } = request.headers;
  const reading = request.method === 'GET' || request.method === 'HEAD';
  let url = request.url;
  for (let hops = 0; ; hops += 1) {
    redirects.asking?.(url);
    const secret = authorization !== undefined && redirects.trusted(url) ? { authorization } : {};
    const answer = await wire.send({ ...request, url, headers: { ...others, ...secret } });
    const next = (reading ? readOnly : anyMethod).has(answer.status)
      ? target(answer.headers.location, url)
      : undefined;
    if (next === undefined || !redirects.allowed(next) || hops >= mostRedirects) return { answer, url };
    await readBody(answer.body, longestBody);
    url = next;
  }
}

function target(location: string | undefined, base: URL): URL | undefined {
  if (location === undefined || !URL.canParse(location, base.href)) return undefined;
  const url = new URL(location, base);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined;
}
