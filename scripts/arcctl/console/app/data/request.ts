import type { Problem, Session } from '../../api.ts';

/** An error response of the page's server, or of the cluster behind it. */
export class RequestError extends Error {
  readonly code: string;

  constructor({ code, message }: Problem) {
    super(message);
    this.code = code;
  }
}

let session: Promise<Session> | undefined;

/** Returns the session, which is requested once. */
export function readSession(): Promise<Session> {
  session ??= request<Session>('/api/session').catch((caught: unknown) => {
    session = undefined;
    throw caught;
  });
  return session;
}

/** Sends a GET request. Rejects with RequestError. */
export function read<T>(path: string, signal?: AbortSignal): Promise<T> {
  return request<T>(path, signal ? { signal } : {});
}

/** Sends a change. Rejects with RequestError. */
export async function send<T = object>(path: string, body: object, signal?: AbortSignal): Promise<T> {
  const attempt = async () => {
    const { csrf } = await readSession();
    const headers = { 'content-type': 'application/json', 'x-arc-csrf': csrf };
    return request<T>(path, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      ...(signal && { signal }),
    });
  };
  try {
    return await attempt();
  } catch (caught) {
    // The server was restarted and has a new CSRF token; the cookie of this viewer is still valid.
    if (!(caught instanceof RequestError) || caught.code !== 'Forbidden' || !session) throw caught;
    const before = await session;
    session = undefined;
    if ((await readSession()).csrf === before.csrf) throw caught;
    return attempt();
  }
}

async function request<T>(path: string, init: RequestInit = {}): Promise<T> {
  const answer = await fetch(path, init).catch((caught: unknown) => {
    if (init.signal?.aborted) throw caught;
    const message = 'The server of this page does not respond: restart it, or wait until it is back.';
    throw new RequestError({ code: 'Unreachable', message });
  });
  if (answer.ok) return (await answer.json()) as T;
  const value: unknown = await answer.json().catch(() => ({}));
  if (answer.status === 401 && isProblem(value) && value.signIn !== undefined) toSignIn(value.signIn);
  throw new RequestError(
    isProblem(value) ? value : { code: String(answer.status), message: answer.statusText },
  );
}

let isSigningOut = false;

/** Ends the session and leaves this page. Rejects with RequestError, and the viewer is still signed in. */
export async function signOut(): Promise<void> {
  isSigningOut = true;
  try {
    await send('/api/sign-out', {});
  } catch (caught) {
    isSigningOut = false;
    throw caught;
  }
  location.assign('/sign-in');
}

/** Leaves this page, and comes back to it. */
function toSignIn(address: string): void {
  // The session is gone before its sign-out is answered; a second navigation would abort the first.
  if (isSigningOut) return;
  const here = `${location.pathname}${location.search}`;
  location.assign(`${address}?to=${encodeURIComponent(here)}`);
}

/** Leaves this page where its viewer is no longer signed in. */
export function checkSession(): void {
  request('/api/session').catch(() => {});
}

function isProblem(value: unknown): value is Problem {
  return typeof value === 'object' && value !== null && 'code' in value && 'message' in value;
}

/** Returns a message for people for any thrown value. */
export function messageOf(caught: unknown): string {
  return caught instanceof Error ? caught.message : String(caught);
}
