import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { getCookie, setCookie } from 'hono/cookie';
import { html } from 'hono/html';
import { secureHeaders } from 'hono/secure-headers';

/** What a browser has to show. Each is random, and none of them is a credential of the cluster. */
export interface Secrets {
  /** In the printed address. */
  token: string;
  /** In the cookie. */
  session: string;
  /** In every form that changes something. */
  csrf: string;
}

export function createSecrets(): Secrets {
  const secret = () => randomBytes(32).toString('base64url');
  return { token: secret(), session: secret(), csrf: secret() };
}

/**
 * Returns a host name that nobody can guess: browsers resolve names below `localhost` to loopback (RFC 6761). Cookies ignore ports, so a cookie of
 * 127.0.0.1 would go to every other server of this machine that the browser opens by that address. A token in a header would need scripts for
 * every page, and a server at the other address of this port would get it too: loopback.ts keeps that port.
 */
export function createHostName(): string {
  return `arc-${randomBytes(16).toString('hex')}.localhost`;
}

/** Own files only, no inline script or style, no frames, nothing from elsewhere. */
export const headers = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    connectSrc: ["'self'"],
    // The empty icon, in place of a request for one.
    imgSrc: ['data:'],
    formAction: ["'self'"],
    frameAncestors: ["'none'"],
    baseUri: ["'none'"],
  },
  xFrameOptions: 'DENY',
  referrerPolicy: 'same-origin',
  // It is served without TLS, on loopback.
  strictTransportSecurity: false,
});

/** Refuses every Host but `host()`: a page that resolves its own name to this machine (DNS rebinding) sends another one. */
export function onlyHost(host: () => string): MiddlewareHandler {
  return async (c, next) => {
    if (c.req.header('host') !== host())
      return c.text('This is not the address of the dashboard: open the one that it has printed.\n', 421);
    await next();
    c.header('Cache-Control', 'no-store');
  };
}

/** Turns the token of the printed address into a cookie, and lets nobody in without one of them. */
export function onlyOwner({ token, session }: Secrets): MiddlewareHandler {
  return async (c, next) => {
    const given = c.req.query('token');
    if (given !== undefined && c.req.method === 'GET' && c.req.path === '/' && isSame(given, token)) {
      setCookie(c, cookieName, session, { httpOnly: true, sameSite: 'Strict', path: '/' });
      // Not a redirect: a browser that comes from a link elsewhere would leave a strict cookie out when it follows.
      return c.html(
        html`<!doctype html><html lang="en"><head><title>ARC</title><meta http-equiv="refresh" content="0;url=/"></head><body><p><a href="/">To the dashboard</a></p></body></html>`,
      );
    }
    if (isSame(getCookie(c, cookieName) ?? '', session)) return next();
    return c.html(
      html`<!doctype html><html lang="en"><head><title>ARC: not signed in</title><link rel="stylesheet" href="/style.css"></head><body><main><h1>Not signed in</h1><p>Open the address that the dashboard has printed. A new start makes a new one.</p></main></body></html>`,
      401,
    );
  };
}

/** The body of a form is a few fields. */
export const smallBodies = bodyLimit({ maxSize: 4096 });

/** Changes come from forms of our own pages. */
export function onlyOwnForms({ csrf }: Secrets): MiddlewareHandler {
  return async (c, next) => {
    if (['GET', 'HEAD'].includes(c.req.method)) return next();
    const site = c.req.header('sec-fetch-site') ?? 'same-origin';
    const { csrf: given } = await c.req.parseBody();
    if (site === 'same-origin' && typeof given === 'string' && isSame(given, csrf)) return next();
    return c.text('This form is not of this dashboard, or of an earlier one: reload the page.\n', 403);
  };
}

const cookieName = 'arc-dashboard';

/** In a time that says nothing of where they differ. */
function isSame(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(wanted));
}
