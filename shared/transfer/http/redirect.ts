import { readBody } from './body.ts';
import type { HttpClient, HttpRequest, HttpResponse } from './http-client.ts';
import type { Access, ReachPolicy } from './reach.ts';

const maxRedirects = 5;
/** The refusal after too many redirects. */
const redirectLoop = 'it redirects in a loop';
const maxRedirectBodyBytes = 64 * 1024;
const anyMethod = new Set([307, 308]);
const readOnly = new Set([301, 302, 303, ...anyMethod]);

/** A URL to which a request is not sent (`Reach.refusal`). */
export class RefusedError extends Error {
  /** `https://host[:port]`. */
  readonly origin: string;

  constructor(origin: string, why: string) {
    super(why);
    this.origin = origin;
  }
}

/** The final response to a request. */
export interface Followed {
  response: HttpResponse;
  /** The URL of the response, and the permissions there. */
  url: URL;
  access: Access;
  /** Why the redirect is not followed, if the response is a redirect. */
  refusal?: string | undefined;
}

export interface Following {
  reach: ReachPolicy;
  /** The URL that referred to the URL of the request, if a server has named it. */
  from?: URL;
  /** Called with each URL before it is requested. */
  onRequest?: (url: URL, access: Access) => void;
}

/**
 * Sends a request and follows redirects as far as `reach` allows: all of them for GET and HEAD, for other methods only those that keep the
 * method (RFC 9110, 15.4). The Authorization header is sent only to servers that may have the credentials. A redirect that is not followed
 * is returned like any other response. Rejects with a RefusedError if the first URL is out of reach.
 */
export async function sendFollowing(
  client: HttpClient,
  request: HttpRequest,
  { reach, from, onRequest }: Following,
): Promise<Followed> {
  const { authorization, ...others } = request.headers;
  const { method } = request;
  const refused = reach.refusal(method, request.url, from);
  if (refused !== undefined) throw new RefusedError(request.url.origin, refused);
  let { url } = request;
  for (let hops = 0; ; hops += 1) {
    const access = reach.access(url);
    onRequest?.(url, access);
    const secret = authorization !== undefined && access.credentials ? { authorization } : {};
    const { publicOnly } = access;
    const response = await client.send({ ...request, url, publicOnly, headers: { ...others, ...secret } });
    const next = (method === 'GET' || method === 'HEAD' ? readOnly : anyMethod).has(response.status)
      ? target(response.headers.location, url)
      : undefined;
    const refusal = next && (hops < maxRedirects ? reach.refusal(method, next, url) : redirectLoop);
    if (next === undefined || refusal !== undefined) return { response, url, access, refusal };
    await readBody(response.body, maxRedirectBodyBytes);
    url = next;
  }
}

/** The advice for a redirect loop; undefined for any other refusal. */
export function loopAdvice(refusal: string | undefined): string | undefined {
  if (refusal !== redirectLoop) return undefined;
  return `${redirectLoop} (stopped after ${maxRedirects} redirects): fix the server or the proxy in front of it`;
}

function target(location: string | undefined, base: URL): URL | undefined {
  if (location === undefined || !URL.canParse(location, base.href)) return undefined;
  const url = new URL(location, base);
  return url.protocol === 'https:' || url.protocol === 'http:' ? url : undefined;
}
