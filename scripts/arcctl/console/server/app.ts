import { gunzipSync } from 'node:zlib';
import { type Context, Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { ArcError, httpStatus, printableLines } from '#shared/base/errors';
import { isRecord } from '#shared/base/meta';
import { isObjectName } from '#shared/domain';
import type { Key } from '#shared/kubernetes/client';
import type { ConsoleApp } from '../../../build/console.ts';
import { version } from '../../../version/version.ts';
import type { Cluster } from '../../core/session.ts';
import { readOrder } from '../../model/read-tree.ts';
import type { Session } from '../api.ts';
import type { Watches } from '../model/watches.ts';
import { act, create, dryRun, orderIn, rollBack } from './changes.ts';
import {
  headersOf,
  limitBodies,
  requireCsrfToken,
  requireHost,
  requireSession,
  type Secrets,
} from './guard.ts';
import { createLive } from './live.ts';
import { createLiveLog } from './live-log.ts';
import { documentOf } from './page.ts';
import { diffOf, findingsOf, runsOf, settingsOf } from './reads.ts';
import { logsOf, manifestOf } from './texts.ts';
import { createTopics } from './topics.ts';

export interface PagesOptions {
  cluster: Pick<Cluster, 'api' | 'transport' | 'server' | 'hint'>;
  /** The visible namespace; absent: all. */
  namespace?: string | undefined;
  watches: Watches;
  /** Required of changes, which come from pages of this origin. */
  csrf: string;
  origin: () => string;
  /** Who has signed in; absent: whoever started the console. */
  viewer?: Session['viewer'];
  front: () => Promise<ConsoleApp>;
  /** Aborts all live updates. */
  signal: AbortSignal;
}

export interface DashboardOptions extends Omit<PagesOptions, 'csrf' | 'origin' | 'viewer'> {
  /** Returns the required Host header: name and port of this dashboard. */
  host: () => string;
  secrets: Secrets;
}

/** Serves the console to one viewer, who has its cookie. */
export function createDashboard(options: DashboardOptions): Hono {
  const { host, secrets, front } = options;
  const app = new Hono();
  app.use(headersOf({ isSecure: false }), requireHost(host));
  serveAssets(app, front);
  app.use(requireSession(secrets));
  const pages = createPages({ ...options, csrf: secrets.csrf, origin: () => `http://${host()}` });
  app.all('*', (c) => pages.fetch(c.req.raw));
  return app;
}

/** Serves the files of the front end, without authentication: they are the same in every installation. */
export function serveAssets(app: Hono, front: PagesOptions['front']): void {
  app.get('/assets/:name', async (c) => {
    const asset = (await front()).assets.find(({ name }) => name === c.req.param('name'));
    if (!asset) return c.notFound();
    c.header('Content-Type', asset.type);
    c.header('Cache-Control', 'private, max-age=31536000, immutable');
    c.header('Vary', 'Accept-Encoding');
    if (!c.req.header('accept-encoding')?.includes('gzip'))
      return c.body(new Uint8Array(gunzipSync(asset.gzip)));
    c.header('Content-Encoding', 'gzip');
    return c.body(new Uint8Array(asset.gzip));
  });
}

/** Serves the document of the front end and its JSON and events. The browser never gets a credential of the cluster. */
export function createPages(options: PagesOptions): Hono {
  const { cluster, namespace, watches, csrf, origin, viewer, front, signal } = options;
  const app = new Hono();
  app.use(limitBodies, requireCsrfToken(csrf, origin));

  app.get('/api/session', (c) => {
    const { server } = cluster;
    return json(c, {
      server,
      version,
      csrf,
      ...(namespace !== undefined && { namespace }),
      ...(viewer && { viewer }),
    } satisfies Session);
  });
  const live = createLive({ watches, signal });
  for (const [name, topic] of Object.entries(createTopics(watches, keyOfPath)))
    app.get(`/api/live/${name}`, (c) => live(c, topic));
  const liveLog = createLiveLog({ cluster, signal });
  app.get('/api/follow/:namespace/:name', (c) => liveLog(c, keyOfPath(c)));
  serveReads(app, options);
  serveChanges(app, cluster);

  app.notFound(async (c) => {
    const isPage = c.req.method === 'GET' && !/^\/(api|assets)\//.test(c.req.path);
    // Unknown pages are handled by the front end's router.
    if (isPage) return c.html(documentOf(await front(), cluster.server));
    return json(c, { code: 'NotFound', message: 'Unknown path.' }, 404);
  });
  app.onError((caught, c) => {
    if (caught instanceof HTTPException) return caught.getResponse();
    const { code, message } = ArcError.from(caught);
    return json(c, { code, message }, statusOf(code));
  });
  return app;
}

function serveReads(app: Hono, { cluster, namespace: shown }: PagesOptions): void {
  const { api } = cluster;
  const order = '/api/orders/:namespace/:name';
  app.get(`${order}/manifest`, async (c) =>
    json(c, { text: await manifestOf(await readOrder(api, keyOfPath(c), signalOf(c))) }),
  );
  app.get(`${order}/runs`, async (c) => json(c, await runsOf(api, keyOfPath(c), signalOf(c))));
  app.get(`${order}/logs/:index`, async (c) => {
    const index = Number(c.req.param('index'));
    return json(c, { parts: await logsOf(api, keyOfPath(c), index, signalOf(c)) });
  });
  app.get(`${order}/diff`, async (c) => {
    const { namespace } = keyOfPath(c);
    const [from, to] = [nameOf(c.req.query('from')), nameOf(c.req.query('to'))];
    return json(c, { lines: await diffOf(api, namespace, { from, to }, signalOf(c)) });
  });
  app.get('/api/settings', async (c) => json(c, await settingsOf(api, signalOf(c))));
  app.get('/api/doctor', async (c) => {
    const namespace = nameOf(c.req.query('namespace') ?? shown ?? 'default');
    return json(c, { findings: await findingsOf({ ...cluster, namespace }, signalOf(c)) });
  });
}

function serveChanges(app: Hono, cluster: PagesOptions['cluster']): void {
  app.post('/api/orders/:namespace/:name/actions', async (c) => {
    await act(cluster, keyOfPath(c), await bodyOf(c), signalOf(c));
    return json(c, {});
  });
  app.post('/api/orders/:namespace/:name/rollback', async (c) => {
    await rollBack(cluster, keyOfPath(c), await bodyOf(c), signalOf(c));
    return json(c, {});
  });
  app.post('/api/dry-run', async (c) => {
    const { manifest } = await bodyOf(c);
    return json(c, await dryRun(cluster, manifest, signalOf(c)));
  });
  app.post('/api/orders', async (c) => {
    const { manifest } = await bodyOf(c);
    const { metadata } = await create(cluster, await orderIn(manifest), signalOf(c));
    return json(c, { namespace: metadata.namespace, name: metadata.name });
  });
}

type Status = 200 | 400 | 403 | 404 | 409 | 422 | 502;

/** Replaces control characters from the cluster, such as those that change the text direction. */
function json(c: Context, value: object, status: Status = 200): Response {
  const text = JSON.stringify(value, (_, each) => (typeof each === 'string' ? printableLines(each) : each));
  return c.body(text, status, { 'Content-Type': 'application/json; charset=utf-8' });
}

function signalOf(c: Context): AbortSignal {
  return c.req.raw.signal;
}

async function bodyOf(c: Context): Promise<Record<string, unknown>> {
  const body: unknown = await c.req.json().catch(() => undefined);
  if (isRecord(body)) return body;
  throw new ArcError('BadRequest', 'the request body is not a JSON object: reload the page');
}

/** Maps an API error to a status; a credential rejected by the cluster must not look like a rejected browser session. */
function statusOf(code: ArcError['code']): Status {
  const status = httpStatus(code);
  return status === 400 || status === 403 || status === 404 || status === 409 || status === 422
    ? status
    : 502;
}

function keyOfPath(c: Context): Required<Key> {
  const { namespace = '', name = '' } = c.req.param();
  if (isObjectName(namespace) && isObjectName(name)) return { namespace, name };
  throw new ArcError('NotFound', 'invalid name of an Order: go back to the list of Orders');
}

function nameOf(given: string | undefined): string {
  if (given !== undefined && isObjectName(given)) return given;
  throw new ArcError('BadRequest', 'invalid object name: reload the page');
}
