import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { createBudgets, networkOf } from '#shared/base/async';
import { ArcError, httpStatus, printable } from '#shared/base/errors';
import type { Logger } from '#shared/base/telemetry';
import { serveAssets } from '../arcctl/console/server/app.ts';
import { headersOf, limitBodies, requireHost } from '../arcctl/console/server/guard.ts';
import type { ConsoleApp } from '../build/console.ts';
import { keepBegun, keepSession, namespaceOf, sessionIdOf, takeBegun } from './cookies.ts';
import { type Credential, pasted, type SignOn } from './oidc.ts';
import { createSessions, type SessionLimits } from './sessions.ts';
import { signInPage } from './sign-in-page.ts';
import { createViewer, identify, type Viewer } from './viewer.ts';

export interface ConsoleOptions {
  /** The environment with the address of the cluster (`inClusterAccess`). */
  env: NodeJS.ProcessEnv;
  /** The origin in the browser's address bar: `https://arc.example.com`. */
  origin: string;
  front: () => Promise<ConsoleApp>;
  /** Default: sign-in by token only. `name`: display name of the issuer. */
  signOn?: (SignOn & { name: string }) | undefined;
  limits: SessionLimits;
  /** Number of trusted reverse proxies that append to X-Forwarded-For. */
  proxies: number;
  log: Pick<Logger, 'info' | 'warn'>;
  /** Ends all sessions. */
  signal: AbortSignal;
  /** Milliseconds of a monotonic clock. */
  now?: (() => number) | undefined;
}

/** Rate limit of failed sign-ins per client address. */
const attempts = { burst: 10, perSecond: 0.2, most: 10_000 };
/** Rate limit of requests per session. A page load takes about ten. */
const requests = { burst: 200, perSecond: 20 };
const sweepMs = 10_000;

/**
 * Returns the console of a cluster. Viewers sign in by OpenID Connect or with a token. The console has no permissions of its own: every request
 * to the cluster carries the viewer's credential, which never leaves this process otherwise.
 */
export function createConsole(options: ConsoleOptions): Hono {
  const { env, origin, front, signOn, limits, log, signal, now } = options;
  const sessions = createSessions<Viewer>(limits, now);
  const refusals = createBudgets({ ...attempts, now });
  const turns = createBudgets({ ...requests, most: limits.most, now });
  const timer = setInterval(() => sessions.sweep(), sweepMs).unref();
  signal.addEventListener('abort', () => {
    clearInterval(timer);
    sessions.endAll();
  });

  const sessionOf = (c: Context) => sessions.find(sessionIdOf(c));
  const ask = async (c: Context, to: string, problem = '', status: Status = 200) =>
    c.html(
      signInPage({ front: await front(), issuer: signOn?.name, to, problem: printable(problem) }),
      status,
    );

  /** Starts a session with the credential, or renders the sign-in page with the reason for the refusal. */
  const signIn = async (c: Context, to: string, credentialOf: () => Promise<Credential>) => {
    const address = addressOf(c, options.proxies);
    const client = networkOf(address);
    const seconds = refusals.take(client);
    if (seconds > 0) {
      c.header('Retry-After', String(seconds));
      return ask(c, to, `Too many attempts from your address: try again in ${seconds} s.`, 429);
    }
    try {
      const credential = await credentialOf();
      const identity = await identify(env, credential, c.req.raw.signal);
      sessionOf(c)?.end();
      const namespace = namespaceOf(c);
      const id = sessions.begin(identity.name, (session) =>
        createViewer({ env, credential, identity, session, namespace, origin, front }),
      );
      refusals.giveBack(client);
      keepSession(c, id);
      log.info({ user: identity.name, address }, 'signed in');
      return c.redirect(to, 303);
    } catch (caught) {
      const { code, message } = ArcError.from(caught);
      log.warn({ address, code, reason: message }, 'refused a sign-in');
      return ask(c, to, `You are not signed in: ${message}.`, statusOf(code));
    }
  };

  const app = new Hono();
  app.route('/', createProbes());
  app.use(
    headersOf({ isSecure: true }),
    requireHost(() => new URL(origin).host),
  );
  serveAssets(app, front);

  app.get('/sign-in', async (c) => {
    const to = placeOf(c.req.query('to'));
    return sessionOf(c) ? c.redirect(to, 303) : ask(c, to);
  });
  app.post('/sign-in', limitBodies, async (c) => {
    // Login CSRF: another site could sign its visitor in to an attacker's account.
    if (c.req.header('origin') !== origin) return ask(c, '/', 'Sign in on this page.', 403);
    const { token, to } = await c.req.parseBody();
    return signIn(c, placeOf(to), async () => pasted(token));
  });
  app.get('/sign-in/oidc', async (c) => {
    const to = placeOf(c.req.query('to'));
    try {
      if (!signOn) throw new ArcError('NotFound', 'This console has no issuer: sign in with a token.');
      const { url, pending } = await signOn.begin();
      keepBegun(c, { ...pending, to });
      return c.redirect(url.href, 303);
    } catch (caught) {
      const { code, message } = ArcError.from(caught);
      return ask(c, to, message, statusOf(code));
    }
  });
  app.get('/sign-in/callback', async (c) => {
    const begun = takeBegun(c);
    if (!begun || !signOn)
      return ask(c, '/', 'This sign-in was not begun in this browser, or too long ago: begin again.', 400);
    return signIn(c, placeOf(begun.to), () => signOn.finish(new URL(c.req.url).searchParams, begun));
  });

  app.all('*', async (c) => {
    const session = sessionOf(c);
    if (!session) return unauthenticated(c);
    const seconds = turns.take(session.csrf);
    if (seconds > 0) {
      c.header('Retry-After', String(seconds));
      return c.json({ code: 'TooManyRequests', message: `Too many requests: wait ${seconds} s.` }, 429);
    }
    const done = session.use();
    const { outgoing } = connectionOf(c);
    if (outgoing) outgoing.once('close', done);
    else done();
    return session.value.pages.fetch(c.req.raw);
  });
  return app;
}

/** Returns the liveness and readiness probes. */
export function createProbes(): Hono {
  const probes = new Hono();
  for (const probe of ['liveness', 'readiness']) probes.get(`/health/${probe}`, (c) => c.text('ok'));
  return probes;
}

function unauthenticated(c: Context): Response {
  const { path, method } = c.req;
  const message = 'You are not signed in, or no longer: sign in.';
  if (path.startsWith('/api/')) return c.json({ code: 'Unauthorized', message, signIn: '/sign-in' }, 401);
  if (method !== 'GET') return c.text(`${message}\n`, 401);
  const to = `${path}${new URL(c.req.url).search}`;
  return c.redirect(`/sign-in${to === '/' ? '' : `?to=${encodeURIComponent(to)}`}`, 303);
}

/** Returns the path to redirect to after a sign-in; `/` for anything outside this console (open redirect). */
export function placeOf(given: unknown): string {
  const here = 'https://here.invalid';
  if (typeof given !== 'string' || !given.startsWith('/') || !URL.canParse(given, here)) return '/';
  const { origin, pathname, search } = new URL(given, here);
  return origin === here && !pathname.startsWith('//') && !pathname.startsWith('/sign-in')
    ? `${pathname}${search}`
    : '/';
}

/** Returns the Node bindings; empty if the app is called without a server. */
function connectionOf(c: Context): Partial<HttpBindings> {
  return c.env ?? {};
}

/** Returns the client address that the outermost trusted proxy has recorded. */
function addressOf(c: Context, proxies: number): string {
  const own = connectionOf(c).incoming?.socket.remoteAddress ?? '';
  const forwarded = (c.req.header('x-forwarded-for') ?? '').split(',').map((each) => each.trim());
  return (proxies > 0 && forwarded.at(-proxies)) || own;
}

type Status = 200 | 400 | 401 | 403 | 404 | 429 | 502;

function statusOf(code: ArcError['code']): Status {
  const status = httpStatus(code);
  return status === 400 || status === 401 || status === 403 || status === 404 ? status : 502;
}
