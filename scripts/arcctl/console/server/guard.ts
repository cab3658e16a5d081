import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { getCookie, setCookie } from 'hono/cookie';
import { html } from 'hono/html';
import { secureHeaders } from 'hono/secure-headers';

/** The secrets of a browser session. Each is random, and none is a credential of the cluster. */
export interface Secrets {
  /** In the printed URL. */
  token: string;
  /** In the cookie. */
  session: string;
  /** CSRF token in a header of every change. */
  csrf: string;
}

export function createSecrets(): Secrets {
  const secret = () => randomBytes(32).toString('base64url');
  return { token: secret(), session: secret(), csrf: secret() };
}

/**
 * Returns an unguessable host name: browsers resolve names below `localhost` to loopback (RFC 6761). Cookies ignore ports, so a cookie for
 * 127.0.0.1 would be sent to every other local server that the browser opens under that address. A server on the same port of the other
 * loopback address would get it too: loopback.ts occupies that port.
 */
export function createHostName(): string {
  return `arc-${randomBytes(16).toString('hex')}.localhost`;
}

/** Security headers: own files only, no inline script or style, no frames. `isSecure`: served over TLS, with a sign-in form. */
export function headersOf({ isSecure }: { isSecure: boolean }): MiddlewareHandler {
  return secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: ["'self'"],
      styleSrc: ["'self'"],
      connectSrc: ["'self'"],
      fontSrc: ["'self'"],
      imgSrc: ["'self'"],
      formAction: [isSecure ? "'self'" : "'none'"],
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
    },
    xFrameOptions: 'DENY',
    referrerPolicy: 'same-origin',
    strictTransportSecurity: isSecure && 'max-age=31536000',
  });
}

/** Rejects every Host header but `host()`: with DNS rebinding, a foreign page sends another one. */
export function requireHost(host: () => string): MiddlewareHandler {
  return async (c, next) => {
    if (c.req.header('host') !== host())
      return c.text('This is not the URL of the console: open the URL that it was given.\n', 421);
    await next();
    // Files named after their content are cacheable.
    if (!c.res.headers.get('Cache-Control')?.includes('immutable')) c.header('Cache-Control', 'no-store');
  };
}

/** Exchanges the token of the printed URL for a cookie, and rejects requests with neither. */
export function requireSession({ token, session }: Secrets): MiddlewareHandler {
  return async (c, next) => {
    const given = c.req.query('token');
    if (given !== undefined && c.req.method === 'GET' && c.req.path === '/' && isSame(given, token)) {
      setCookie(c, cookieName, session, { httpOnly: true, sameSite: 'Strict', path: '/' });
      // Not a redirect: after a link from another site, browsers omit a SameSite=Strict cookie on redirects.
      return c.html(
        html`<!doctype html><html lang="en"><head><title>ARC</title><meta http-equiv="refresh" content="0;url=/"></head><body><p><a href="/">To the dashboard</a></p></body></html>`,
      );
    }
    if (isSame(getCookie(c, cookieName) ?? '', session)) return next();
    const message = 'This browser is not signed in: open the URL that the dashboard printed.';
    if (c.req.path.startsWith('/api/')) return c.json({ code: 'Unauthorized', message }, 401);
    return c.html(
      html`<!doctype html><html lang="en"><head><title>ARC: not signed in</title></head><body><main><h1>Not signed in</h1><p>${message}</p></main></body></html>`,
      401,
    );
  };
}

/** Limits request bodies: the largest is a manifest, and an API server accepts at most 3 MiB. */
export const limitBodies = bodyLimit({
  maxSize: 1024 * 1024,
  onError: (c) =>
    c.json({ code: 'RequestEntityTooLarge', message: 'The request is larger than 1 MiB.' }, 413),
});

/** Accepts changes only from our own pages: other sites can neither read the token nor set the header. */
export function requireCsrfToken(csrf: string, origin: () => string): MiddlewareHandler {
  return async (c, next) => {
    if (['GET', 'HEAD'].includes(c.req.method)) return next();
    const site = c.req.header('sec-fetch-site') ?? 'same-origin';
    const from = c.req.header('origin') ?? origin();
    const isOwn = site === 'same-origin' && from === origin();
    if (isOwn && isSame(c.req.header('x-arc-csrf') ?? '', csrf)) return next();
    const message = 'This page belongs to another or earlier dashboard: reload it.';
    return c.json({ code: 'Forbidden', message }, 403);
  };
}

const cookieName = 'arc-dashboard';

/** Compares in constant time. */
function isSame(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
