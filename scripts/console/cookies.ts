import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { isRecord } from '#shared/base/meta';
import { isObjectName } from '#shared/domain';
import type { Pending } from './oidc.ts';

/**
 * `__Host-`: of this host alone, over TLS. Links from elsewhere, to an Order in a chat, bring them (Lax); what changes something needs more than a
 * cookie.
 */
const common = { prefix: 'host', path: '/', secure: true, httpOnly: true, sameSite: 'Lax' } as const;
const [session, pending, namespace] = ['arc-console', 'arc-sign-in', 'arc-namespace'];
/** As long as a person may take at the issuer. */
const pendingSeconds = 600;
const yearSeconds = 365 * 24 * 60 * 60;

export function sessionIdOf(c: Context): string {
  return getCookie(c, session, 'host') ?? '';
}

/** Until the browser is closed, or the session ends. */
export function keepSession(c: Context, id: string): void {
  setCookie(c, session, id, common);
}

export function dropSession(c: Context): void {
  deleteCookie(c, session, common);
}

/** A sign-in that is under way. What it holds is a secret between this browser and us: whoever forges it signs nobody in but themselves. */
export interface Begun extends Pending {
  /** Where to go on. */
  to: string;
}

export function keepBegun(c: Context, begun: Begun): void {
  const value = Buffer.from(JSON.stringify(begun)).toString('base64url');
  setCookie(c, pending, value, { ...common, maxAge: pendingSeconds });
}

/** Returns what this browser has begun, once. */
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

/** The namespace that this browser has chosen before. */
export function namespaceOf(c: Context): string | undefined {
  const name = getCookie(c, namespace, 'host') ?? '';
  return isObjectName(name) ? name : undefined;
}

/** Empty: all. */
export function keepNamespace(c: Context, name: string): void {
  if (name === '') deleteCookie(c, namespace, common);
  else setCookie(c, namespace, name, { ...common, maxAge: yearSeconds });
}
