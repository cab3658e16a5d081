/** Makes the certificates between kube-apiserver, api-server and etcd, checks them once a minute and renews them in time. */
import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import * as z from 'zod';
import { createBackoff, pause } from '#shared/base/async';
import { readConfig } from '#shared/base/config';
import { ArcError } from '#shared/base/errors';
import { createLogger } from '#shared/base/telemetry';
import { createKubeClient, programAccess } from '#shared/kubernetes/client';
import { reconcile } from './reconcile.ts';

const settings = z.object({
  PORT: z.coerce.number().int().min(0).max(65_535).default(8080),
  LOG_LEVEL: z.enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']).default('info'),
});
const everyMs = 60_000;
const restartEtcd =
  'a new authority will start to sign one year after this time: restart etcd once before then, because etcd reads the authorities that it trusts only when it starts';

async function main(): Promise<void> {
  const config = readConfig(settings, process.env);
  const log = createLogger({ name: 'certificate-issuer', level: config.LOG_LEVEL });
  const control = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) process.once(name, () => control.abort());
  const api = createKubeClient({
    ...(await programAccess(process.env)),
    userAgent: 'arc-certificate-issuer',
  });
  let isDone = false;
  let warned: string | undefined;
  const app = new Hono();
  app.get('/health/liveness', (context) => context.text('ok'));
  app.get('/health/readiness', (context) =>
    isDone ? context.text('ok') : context.text('some certificates have not been made yet', 503),
  );
  const http = serve({ fetch: app.fetch, port: config.PORT });
  const backoff = createBackoff({ baseMs: 1_000, maxMs: everyMs, random: Math.random });
  while (!control.signal.aborted) {
    try {
      const { written, signsNext } = await reconcile(api, new Date(), control.signal);
      if (written.length > 0) log.info({ written }, 'wrote certificates');
      if (signsNext !== undefined && signsNext !== warned) log.warn({ since: signsNext }, restartEtcd);
      warned = signsNext;
      isDone = true;
      backoff.reset();
      await pause(everyMs, control.signal);
    } catch (caught) {
      if (control.signal.aborted) break;
      log.error({ err: ArcError.from(caught) }, 'cannot reconcile the certificates');
      await pause(backoff.next(), control.signal);
    }
  }
  http.close();
}

main().catch((caught: unknown) => {
  const error = ArcError.from(caught);
  createLogger({ name: 'certificate-issuer' }).fatal({ err: error }, error.message);
  process.exitCode = 1;
});
