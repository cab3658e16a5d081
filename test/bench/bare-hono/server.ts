/** What anybody would start a function from: the HTTP library that ours use, and nothing done. */
import { serve } from '@hono/node-server';
import { Hono } from 'hono';

const app = new Hono();
app.get('/health/readiness', (context) => context.text('ok'));
app.get('/health/liveness', (context) => context.text('ok'));
app.post('/', (context) => context.body(null, 204));
serve({ fetch: app.fetch, port: Number(process.env.PORT) });
