import { readBody } from './body.ts';
import type { HttpClient, HttpRequest, HttpResponse } from './http-client.ts';

const maxRedirects = 5;
const maxRedirectBodyBytes = 64 * 1024;
const anyMethod = new Set([307, 308]);
const readOnly = new Set([301, 302, 303, ...anyMethod]);

export interface Redirects {
  /** True for a URL that may receive the Authorization header. */
  trusted: (url: URL) => boolean;
  /** True for a URL that may be requested. */
  allowed: (url: URL) => boolean;
  /** Called with each URL before it is requested. */
  onRequest?: (url: URL) => void;
}

/**
 * True if `url` belongs to the server at `origin`: the same scheme, host and port, or the same host by https instead of http, which is how
 * servers move clients to TLS.
 */
export function isSameServer(origin: URL, url: URL): boolean {
  const upgraded = origin.protocol === 'http:' && url.protocol === 'https:';
  return url.origin === origin.origin || (upgraded && url.hostname === origin.hostname);
}

/** Whether a URL is shown the client certificate: those of the server at `origin` and of the `tokenHosts`, with a port or without. */
export function mayKnow(origin: string, tokenHosts: readonly string[]): (url: URL) => boolean {
  const server = new URL(origin);
  return (url) =>
    isSameServer(server, url) || tokenHosts.includes(url.host) || tokenHosts.includes(url.hostname);
}

/**
 * Sends a request and follows redirects: for GET and HEAD of all kinds, for other methods those that keep the method (RFC 9110, 15.4).
 * Resolves with the last response and its URL; a redirect that cannot be followed is a response like any other.
 */
export async function sendFollowing(
  client: HttpClient,
  request: HttpRequest,
  redirects: Redirects,
): Promise<{ response: HttpResponse; url: URL }> {
  const { authorization, ...others } = request.headers;
  const reading = request.method === 'GET' || request.method === 'HEAD';
  let url = request.url;
  for (let hops = 0; ; hops += 1) {
    redirects.onRequest?.(url);
    const secret = authorization !== undefined && redirects.trusted(url) ? { authorization } : {};
    const response = await client.send({ ...request, url, headers: { ...others, ...secret } });
    const next = (reading ? readOnly : anyMethod).has(response.status)
      ? target(response.headers.location, url)
      : undefined;
    if (next === undefined || !redirects.allowed(next) || hops >= maxRedirects) return { response, url };
    await readBody(response.body, maxRedirectBodyBytes);
    url = next;
  }
}

function target(location: string | undefined, base: URL): URL | undefined {
  if (location === undefined || !URL.canParse(location, base.href)) return undefined;
  const url = new URL(location, base);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined;
}
