import path from 'node:path';
import tls from 'node:tls';
import type { Logger } from 'pino';
import { createMetrics } from '#shared/base/telemetry';
import { limitHeapGrowth, type Served, serveFunction } from '#shared/conduit/runtime';
import type { Settings } from '#shared/domain';
import { inProcess, serve } from '#shared/kubernetes/apiserver';
import {
  createKubeClient,
  createTransport,
  type KubeClient,
  nodeFetch,
  type Transport,
} from '#shared/kubernetes/client';
import type { Store } from '#shared/kubernetes/storage';
import {
  createLiveLogs,
  createRbac,
  type Destination,
  followGrants,
  loadManifests,
  type Manifest,
  parseTriggers,
  startBroker,
  startCronController,
  startExecutor,
  startGarbageCollector,
} from '#shared/local';
import { followSettings } from '../../functions/api-server/operator/follow-settings.ts';
import { startBridge } from '../../functions/watch-bridge/index.ts';
import { ensureNamespaces, ensureSettings } from './bootstrap.ts';
import { composeApi, servedKinds } from './compose-api.ts';
import { functions } from './functions.ts';
import { loadIdentities } from './identities.ts';
import { writeKubeconfig } from './kubeconfig.ts';
import { openState } from './open-state.ts';
import { isInstalled, type OptionalFeature, withoutFeatures } from './optional-features.ts';
import { loadPki } from './pki.ts';
import { sendInProcess, sinkOf } from './send-event.ts';
import { loadPort, makeFolder, savePort } from './state-files.ts';
import { withWorker } from './worker-program.ts';

const root = path.resolve(import.meta.dirname, '../..');

/**
 * All functions share one thread: more concurrent deliveries would not be faster, and each holds a connection to the API, which costs memory.
 * A namespace alone gets half.
 */
const deliveriesPerTrigger = 8;

export interface StandaloneOptions {
  /** The state folder; created if absent. */
  folder: string;
  /** Port of the API server; 0: the port of the last start, or any free port. */
  port: number;
  /** Local commands by image pattern, in addition to the transfer-worker's. */
  programs: Readonly<Record<string, string[]>>;
  log: Logger;
  /** Wraps the store, for tests that count or disturb writes. */
  wrapStore?: (store: Store) => Store;
  /** Disabled features. */
  without?: readonly OptionalFeature[];
  /** Subscriber of domain events. */
  sink?: URL;
  /** False: the caller updates Workflows instead of the executor. Default: true. */
  runsWorkflows?: boolean;
}

export interface Standalone {
  /** URL of the API server. */
  url: string;
  kubeconfig: string;
  /** A client of the API as the user `admin`. */
  admin: KubeClient;
  /** The transport of that user, for requests without a client method. */
  transport: Transport;
  close(): Promise<void>;
}

/**
 * Starts ARC in one process: API server on an embedded store, broker, bridge, functions, executor and garbage collector. As in a cluster, the
 * parts communicate only through the API and events. Requests and events are delivered in-process, but are authenticated, authorized and
 * answered like those over a connection.
 */
export async function startStandalone(options: StandaloneOptions): Promise<Standalone> {
  const { log } = options;
  limitHeapGrowth();
  const folder = path.resolve(options.folder);
  await makeFolder(folder);
  await using stack = new AsyncDisposableStack();
  const ending = new AbortController();

  const base = path.join(root, 'knative/base');
  const roles = path.join(import.meta.dirname, 'roles.yaml');
  // A single user owns all Secrets, so credential changes take effect immediately, and every namespace is a tenant.
  const components = ['secret-watch', 'cluster-wide-rights'].map((name) =>
    path.join(root, 'knative/components', name),
  );
  const folders = [base, ...components, path.dirname(roles)];
  const { without = [] } = options;
  const manifests = await withoutFeatures((await Promise.all(folders.map(loadManifests))).flat(), without);
  const identities = await loadIdentities(folder, [
    'admin',
    'api-server',
    'watch-bridge',
    'argo/executor',
    'kube-system/generic-garbage-collector',
    ...Object.keys(functions),
  ]);
  const pki = await loadPki(folder, new Date());
  // Replaces NODE_EXTRA_CA_CERTS, which functions in a cluster use and which Node reads only at startup.
  tls.setDefaultCACertificates([...tls.getCACertificates('default'), pki.ca]);

  const store = await openState(folder);
  stack.defer(() => store.close());
  // The API server watches a ConfigMap that it serves itself.
  const liveLogs = createLiveLogs();
  const operator: { settings: () => Settings } = { settings: () => ({}) };
  const rbac = createRbac(manifests);
  const server = composeApi({
    store: options.wrapStore?.(store) ?? store,
    identities,
    rbac,
    liveLogs,
    log,
    settings: () => operator.settings(),
  });
  const api = await serve(server, {
    certificate: pki,
    host: '127.0.0.1',
    port: options.port || (await loadPort(folder)),
  });
  stack.defer(() => api.close({ graceMs: 2_000 }));
  await savePort(folder, api.port);
  const url = `https://127.0.0.1:${api.port}`;
  const accessOf = (name: string) => ({
    server: url,
    fetch: inProcess(server),
    token: () => identities.tokenOf(name),
    userAgent: `arc-${name}`,
  });
  const clientOf = (name: string) => createKubeClient(accessOf(name));
  // External clients connect over TLS. A stalled connection is caused by load in this process, not by a lost server.
  const overTls = { ...accessOf('admin'), fetch: nodeFetch(30_000) };
  const admin = createKubeClient(overTls);
  await ensureNamespaces(admin);
  await ensureSettings(admin, manifests);
  stack.defer(() => ending.abort()); // also if a later part fails to start
  const followed = followSettings({
    client: clientOf('api-server'),
    log: log.child({ part: 'api-server' }),
    metrics: createMetrics(),
    signal: ending.signal,
  });
  const granted = followGrants({
    api: createKubeClient(accessOf('admin')),
    rbac,
    signal: ending.signal,
    log: log.child({ part: 'rbac' }),
  });
  operator.settings = followed.current;
  await Promise.all([followed.ready, granted.ready]);

  const urls = new Map<string, URL>();
  const handlers = new Map<string, Served['fetch']>();
  const installed = Object.entries(functions).filter(([name]) => isInstalled(manifests, name));
  for (const [name, fn] of installed) {
    const served = await serveFunction(fn, {
      name,
      port: 0,
      api: clientOf(name),
      log: log.child({ function: name }),
      env: process.env,
      drainMs: 2_000,
    });
    stack.defer(() => served.close());
    const address = new URL(served.url);
    urls.set(name, address);
    handlers.set(address.origin, served.fetch);
  }

  const resolve = (to: Destination) =>
    to.uri === undefined ? urls.get(to.ref?.name ?? '') : new URL(to.uri);
  const broker = await startBroker({
    triggers: parseTriggers(options.sink ? [...manifests, subscriptionOf(options.sink)] : manifests),
    resolve,
    send: sendInProcess(handlers),
    log: log.child({ part: 'broker' }),
    concurrency: deliveriesPerTrigger,
  });
  stack.defer(() => broker.close());

  const signal = ending.signal;
  const bridge = startBridge({
    api: clientOf('watch-bridge'),
    sink: sinkOf(broker),
    log: log.child({ part: 'bridge' }),
    metrics: createMetrics(),
    signal,
    watchSecrets: true,
    watchSchedules: !without.includes('cron'),
  });
  const collector = startGarbageCollector({
    api: clientOf('kube-system/generic-garbage-collector'),
    kinds: servedKinds,
    signal,
    log: log.child({ part: 'garbage-collector' }),
  });
  const executor =
    options.runsWorkflows === false
      ? undefined
      : await startExecutor({
          api: clientOf('argo/executor'),
          workFolder: path.join(folder, 'runs'),
          claims: path.join(folder, 'claims'),
          liveLogs,
          ...(await withWorker(options.programs, path.join(folder, 'compiled'), log)),
          signal,
          log: log.child({ part: 'executor' }),
        });

  const schedules = without.includes('cron')
    ? undefined
    : startCronController({
        api: clientOf('argo/executor'),
        signal,
        log: log.child({ part: 'cron-controller' }),
      });

  // Disposed in reverse order: workers and watches end before the API.
  stack.defer(async () => {
    ending.abort();
    await Promise.all([bridge.done, collector.done, executor?.done, schedules?.done, granted.done]);
  });

  const kubeconfig = path.join(folder, 'kubeconfig');
  await writeKubeconfig(kubeconfig, { server: url, ca: pki.ca, token: identities.tokenOf('admin') });
  const running = stack.move();
  const transport = createTransport(overTls);
  return { url, kubeconfig, admin, transport, close: () => running.disposeAsync() };
}

/** Returns the Trigger of a domain event subscriber: all events of Orders and artifacts, no step events. */
function subscriptionOf(sink: URL): Manifest {
  const types = ['order', 'artifact'].map((kind) => ({ prefix: { type: `cloud.opendefense.arc.${kind}.` } }));
  return {
    apiVersion: 'eventing.knative.dev/v1',
    kind: 'Trigger',
    metadata: { name: 'sink' },
    // Its own delivery settings: an unavailable subscriber causes no dead letters of ARC.
    spec: {
      broker: 'arc',
      filters: [{ any: types }],
      subscriber: { uri: sink.href },
      delivery: { retry: 10 },
    },
  };
}
