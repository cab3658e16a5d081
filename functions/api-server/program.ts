import { createMetrics, type Logger } from '#shared/base/telemetry';
import { arcKinds } from '#shared/domain';
import {
  createAuthenticator,
  delegatedAuthorizer,
  liveAuthenticationConfig,
  pauseMetrics,
  processMetrics,
  serve,
  tokenReviewer,
} from '#shared/kubernetes/apiserver';
import { createKubeClient, programAccess } from '#shared/kubernetes/client';
import { writesTo } from './admission-rules.ts';
import { openAuditLog } from './audit-log.ts';
import { followClusterAdmission } from './cluster-admission.ts';
import { authenticationConfigOf, namespacesOf, reviewsOf } from './cluster-client.ts';
import { applyDefaults, loopbackCaller } from './defaults.ts';
import { createArcApiServer } from './index.ts';
import type { LineOutput } from './line-output.ts';
import { openStore } from './open-store.ts';
import { followClusterQuotas } from './operator/cluster-quotas.ts';
import { followSettings } from './operator/follow-settings.ts';
import { followPem, readPem } from './pem-files.ts';
import type { Settings } from './settings.ts';

export interface ProgramOptions {
  settings: Settings;
  env: Readonly<Record<string, string | undefined>>;
  log: Logger;
  /** Takes the audit log, and the log too where both go to one stream. */
  output: LineOutput;
  signal: AbortSignal;
}

/**
 * The API server behind a cluster's kube-apiserver, to which it delegates authentication and authorization. Runs until `signal`
 * is aborted, then ends in order: in-flight requests, watches, the store.
 */
export async function runApiServer({ settings, env, log, output, signal }: ProgramOptions): Promise<void> {
  const client = createKubeClient({ ...(await programAccess(env)), userAgent: 'arc-api-server' });
  await using stack = new AsyncDisposableStack();
  const ending = new AbortController();
  stack.defer(() => ending.abort());

  const config = await liveAuthenticationConfig({
    reader: authenticationConfigOf(client, log),
    signal: AbortSignal.any([signal, ending.signal]),
    onInvalid: (error) =>
      log.error({ err: error }, 'the authentication config is invalid: the last valid one stays in force'),
  });
  const review = reviewsOf(client);
  const metrics = createMetrics();
  processMetrics(metrics);
  pauseMetrics(metrics, ending.signal);
  const store = await openStore(settings, { log, metrics, signal });
  stack.defer(() => store.close());
  const audit = await openAuditLog(settings.ARC_AUDIT_POLICY_FILE, output, metrics);
  const namespaces = namespacesOf(client, log, ending.signal);
  const clusterAdmission = followClusterAdmission({
    client,
    writes: writesTo(arcKinds),
    log,
    metrics,
    signal: ending.signal,
  });
  const operator = followSettings({ client, log, metrics, signal: ending.signal });
  const clusterQuotas = followClusterQuotas({ client, log, signal: ending.signal });
  const caller = loopbackCaller(createAuthenticator({ config, reviewToken: tokenReviewer(review) }));
  const api = createArcApiServer({
    store,
    metrics,
    limits: {
      readOnly: settings.ARC_MAX_READS,
      mutating: settings.ARC_MAX_WRITES,
      watchesPerUser: settings.ARC_MAX_WATCHES_PER_USER,
      exempt: settings.ARC_EXEMPT_USERS,
    },
    ...(audit && { audit }),
    authenticate: caller.authenticator,
    authorize: delegatedAuthorizer(review),
    findNamespace: namespaces.find,
    ...(settings.ARC_ETCD_ENDPOINTS !== undefined && { storeName: 'etcd' }),
    checks: [
      {
        name: 'informer-sync',
        readyOnly: true,
        check() {
          namespaces.check();
          clusterAdmission.check();
          operator.check();
          clusterQuotas.check();
        },
      },
    ],
    notices: () => [...clusterAdmission.notices(), ...clusterQuotas.notices()],
    settings: operator.current,
    clusterQuotas,
    log,
  });

  const files = { cert: settings.ARC_TLS_CERT_FILE, key: settings.ARC_TLS_KEY_FILE };
  const certificate = await readPem(files);
  const serving = await serve(api, {
    certificate,
    host: settings.ARC_BIND_ADDRESS,
    port: settings.PORT,
    onlyHttp1: settings.ARC_DISABLE_HTTP2 === 'true',
  });
  stack.defer(() =>
    serving.close({
      delayMs: settings.ARC_SHUTDOWN_DELAY_SECONDS * 1000,
      graceMs: settings.ARC_SHUTDOWN_GRACE_SECONDS * 1000,
      spreadMs: settings.ARC_WATCH_SPREAD_SECONDS * 1000,
    }),
  );
  log.info({ port: serving.port }, 'serving');
  if (settings.ARC_DEFAULTS_FOLDER !== undefined) {
    const send = (request: Request) => api.app.fetch(caller.stamp(request));
    void applyDefaults({ folder: settings.ARC_DEFAULTS_FOLDER, send, log, signal });
  }
  await followPem({
    files,
    current: certificate,
    onChange: (next) => {
      serving.reload(next);
      log.info('using a new serving certificate');
    },
    onFailure: (error) => log.error({ err: error }, 'cannot use the new serving certificate'),
    signal,
  });
  log.info('shutting down');
}
