import { type Context, Hono } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { ArcError, httpStatus } from '#shared/base/errors';
import { artifactWorkflows, isObjectName, orders } from '#shared/domain';
import type { Key } from '#shared/kubernetes/client';
import { orderActions } from '../core/order-actions.ts';
import type { Cluster } from '../core/session.ts';
import { shippedText } from '../core/shipped.ts';
import { createPace } from '../model/pace.ts';
import { readOrder } from '../model/read-tree.ts';
import { throughputOf } from '../model/throughput.ts';
import { headers, onlyHost, onlyOwner, onlyOwnForms, type Secrets, smallBodies } from './guard.ts';
import { createLive } from './live.ts';
import { createLiveLog } from './live-log.ts';
import { orderViewOf } from './order-view.ts';
import { logsOf, manifestOf } from './texts.ts';
import { orderPage } from './views/order-page.ts';
import { ordersPage } from './views/orders-page.ts';
import { confirmPage, endpointsPage, problemPage, textPage } from './views/other-pages.ts';
import { documentOf, orderPath, type Page } from './views/parts.ts';
import { throughputPage } from './views/throughput.ts';
import type { Watches } from './watches.ts';

export interface DashboardOptions {
  cluster: Pick<Cluster, 'api' | 'transport' | 'server'>;
  watches: Watches;
  /** Returns what Host has to be: the name and port of this dashboard. */
  host: () => string;
  secrets: Secrets;
  /** Ends all live updates. */
  signal: AbortSignal;
}

/** The pages, drawn here and sent as plain HTML. The browser gets what they show, and no credential of the cluster. */
export function createDashboard({ cluster, watches, host, secrets, signal }: DashboardOptions): Hono {
  const app = new Hono();
  const { server } = cluster;
  const show = (c: Context, page: Page, live?: string) => c.html(documentOf(page, server, live));

  app.use(headers, onlyHost(host));
  app.get('/style.css', (c) => asset(c, 'style.css', 'text/css'));
  app.get('/live.js', (c) => asset(c, 'live.js', 'text/javascript'));
  app.use(onlyOwner(secrets), smallBodies, onlyOwnForms(secrets));

  const live = createLive(app, { watches, server, signal });
  live('/', ['orders'], () => (c) => {
    const { namespace, phase, name, page } = c.req.query();
    return ordersPage(
      watches.orders.values(),
      { namespace, phase, name, page },
      watches.orders.failure?.message,
    );
  });
  live('/endpoints', ['endpoints'], () => (c) => {
    const { values, failure } = watches.endpoints;
    return endpointsPage(values(), c.req.query('page'), failure?.message);
  });
  live('/throughput', ['artifactWorkflows'], () => () => {
    const { values, failure } = watches.artifactWorkflows;
    return throughputPage(throughputOf(values(), Date.now()), failure?.message);
  });
  live('/orders/:namespace/:name', ['orders', 'artifactWorkflows', 'events'], () => {
    const pace = createPace();
    return (c) => {
      const { done, phase, page } = c.req.query();
      return orderPage(orderViewOf(watches, keyOfPath(c), { done, pace, filters: { phase, page } }));
    };
  });

  const liveLog = createLiveLog({ cluster, signal });
  app.get('/follow/orders/:namespace/:name', (c) => liveLog(c, keyOfPath(c)));

  app.get('/orders/:namespace/:name/manifest', async (c) => {
    const key = keyOfPath(c);
    const order = await readOrder(cluster.api, key, c.req.raw.signal);
    const parts = [{ head: 'YAML', text: await manifestOf(order) }];
    return show(c, textPage(`Manifest of ${key.namespace}/${key.name}`, key, parts));
  });
  app.get('/orders/:namespace/:name/log/:index', async (c) => {
    const key = keyOfPath(c);
    const logs = await logsOf(cluster.api, key, Number(c.req.param('index')), c.req.raw.signal);
    return show(c, textPage(`Log of ${key.namespace}/${key.name}`, key, logs));
  });

  app.get('/orders/:namespace/:name/:action', (c) => {
    const artifact = artifactOf(c.req.query('artifact'));
    return show(c, confirmPage(actionOf(c), keyOfPath(c), artifact, secrets.csrf));
  });
  app.post('/orders/:namespace/:name/:action', async (c) => {
    const [action, key] = [actionOf(c), keyOfPath(c)];
    const artifact = artifactOf((await c.req.parseBody()).artifact);
    const [kind, target] =
      artifact === undefined ? [orders, key] : [artifactWorkflows, { ...key, name: artifact }];
    if (!action.kinds.includes(kind))
      throw new ArcError('BadRequest', `${action.name} is for whole Orders: go back to the Order`);
    await action.act(cluster, kind, target, c.req.raw.signal);
    return c.redirect(`${orderPath(key)}?done=${action.name}`, 303);
  });

  app.notFound((c) => {
    c.status(404);
    return show(c, problemPage('Not found', 'There is no such page: begin with the Orders.'));
  });
  app.onError((caught, c) => {
    if (caught instanceof HTTPException) return caught.getResponse();
    const { code, message } = ArcError.from(caught);
    c.status(statusOf(code));
    return show(c, problemPage(code, message));
  });
  return app;
}

/** That of the API, were it this server that has it: a refused credential of the cluster is not one of the browser. */
function statusOf(code: ArcError['code']): 400 | 403 | 404 | 409 | 422 | 502 {
  const status = httpStatus(code);
  return status === 400 || status === 403 || status === 404 || status === 409 || status === 422
    ? status
    : 502;
}

function asset(c: Context, name: 'style.css' | 'live.js', type: string): Response {
  return c.body(shippedText(`scripts/arcctl/dashboard/assets/${name}`), 200, {
    'Content-Type': `${type}; charset=utf-8`,
  });
}

function keyOfPath(c: Context): Required<Key> {
  const { namespace = '', name = '' } = c.req.param();
  if (isObjectName(namespace) && isObjectName(name)) return { namespace, name };
  throw new ArcError('NotFound', 'no Order can have such a name: begin with the Orders');
}

function actionOf(c: Context) {
  const found = orderActions.find(({ name }) => name === c.req.param('action'));
  if (found) return found;
  throw new ArcError('NotFound', 'there is no such page: begin with the Orders');
}

function artifactOf(given: unknown): string | undefined {
  if (given === undefined) return undefined;
  if (typeof given === 'string' && isObjectName(given)) return given;
  throw new ArcError('BadRequest', 'no ArtifactWorkflow can have such a name: go back to the Order');
}
