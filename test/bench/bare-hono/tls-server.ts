/**
 * What Node can do at most for an API server: hono over TLS that parses and prints the bytes our server parses and prints, and does nothing else.
 * It runs in a folder with `tls.crt`, `tls.key` and `sample.json`, an object as our server prints it.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';

const sample = readFileSync('sample.json', 'utf8');
const parsed: unknown = JSON.parse(sample);
const app = new Hono();
app.get('*', (context) => context.json(JSON.parse(sample)));
app.post('*', async (context) => {
  await context.req.json();
  return context.json(parsed as object, 201);
});
const serverOptions = { cert: readFileSync('tls.crt'), key: readFileSync('tls.key') };
serve({ fetch: app.fetch, createServer, serverOptions, port: Number(process.env.PORT) }, () =>
  process.send?.('serving'),
);
process.on('disconnect', () => process.exit(0));
