import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { isRecord } from '#shared/base/meta';
import { isObjectName } from '#shared/domain';
import type { Pending } from './oidc.ts';

/**
 * `__Host-`: bound to this host, over TLS only. Lax, so that a link from another site, such as a chat, opens signed in. Changes also require a
 * CSRF token and the Origin header.
 */
const common = { prefix: 'host', path: '/', secure: true, httpOnly: true, sameSite: 'Lax' } as const;
const [session, pending, namespace] = ['arc-console', 'arc-sign-in', 'arc-namespace'];
/** Time limit for a sign-in at the issuer. */
const pendingSeconds = 600;
const yearSeconds = 365 * 24 * 60 * 60;

export function sessionIdOf(c: Context): string {
  return getCookie(c, session, 'host') ?? '';
}

/** Sets the session cookie, which the browser drops when it is closed. */
export function keepSession(c: Context, id: string): void {
  setCookie(c, session, id, common);
}

export function dropSession(c: Context): void {
  deleteCookie(c, session, common);
}

/** A sign-in in progress, stored in the browser. The cookie is not signed: whoever forges it can only sign themselves in. */
export interface Begun extends Pending {
  /** Path to redirect to afterwards. */
  to: string;
}

export function keepBegun(c: Context, begun: Begun): void {
  const value = Buffer.from(JSON.stringify(begun)).toString('base64url');
  setCookie(c, pending, value, { ...common, maxAge: pendingSeconds });
}

/** Returns the sign-in in progress and deletes its cookie. */
export function takeBegun(c: Context): Begun | undefined {
  const text = getCookie(c, pending, 'host') ?? '';
  deleteCookie(c, pending, common);
  try {
    const { state, nonce, verifier, to } = fields(JSON.parse(Buffer.from(text, 'base64url').toString()));
    return state && nonce && verifier && to ? { state, nonce, verifier, to } : undefined;
  } catch {
    return undefined;
  }
}

function fields(value: unknown): Record<string, string | undefined> {
  const entries = isRecord(value) ? Object.entries(value) : [];
  return Object.fromEntries(
    entries.flatMap(([name, each]) => (typeof each === 'string' ? [[name, each]] : [])),
  );
}

/** Returns the namespace that was last selected in this browser. */
export function namespaceOf(c: Context): string | undefined {
  const name = getCookie(c, namespace, 'host') ?? '';
  return isObjectName(name) ? name : undefined;
}

/** Remembers the selected namespace; '' selects all. */
export function keepNamespace(c: Context, name: string): void {
  if (name === '') deleteCookie(c, namespace, common);
  else setCookie(c, namespace, name, { ...common, maxAge: yearSeconds });
}
