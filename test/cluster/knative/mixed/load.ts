import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Victim } from '../../../fixtures/hostile/forged.ts';
import type { Scene, User } from '../../../fixtures/hostile/hostile.ts';
import { spread, type Tally } from '../../../fixtures/hostile/tally.ts';
import { hostileNamespaces, hostileObjects, startChild } from '../../../fixtures/hostile/users.ts';
import { type HttpsClient, httpsClient } from '../../../fixtures/http/https-client.ts';
import { arc } from '../conduit.ts';
import type { Registries } from '../images.ts';
import { apply, client, field, kubectl } from '../kubectl.ts';
import { guardedType, orderHonestly, type Settled } from './honest.ts';
import { type Watched, watchOver } from './watchdog.ts';

const honestLanes = 4;
const lookEveryMs = 5_000;
/** What has come so far is printed every five minutes. */
const looksPerReport = 60;

/** What an hour, or some seconds, of it came to. */
export interface Summary {
  seconds: number;
  requests: number;
  /** Answers of 429, and of any other 4xx. */
  refused: { 429: number; other4xx: number };
  /** By status. */
  serverErrors: Record<string, number>;
  /** Container starts and replaced servers. */
  restarts: string[];
  /** Of the event loop of an api-server, ms: in which it did not come back, and the most work of one turn. */
  longestPauseMs: number;
  longestWorkMs: number;
  pausesOver200Ms: number;
  honest: {
    settled: number;
    orders: Record<string, number>;
    wrong: string[];
    /** Seconds from the request until the Order had ended. */
    seconds: { p50: number; p99: number; longest: number };
  };
  /** Answers that nobody should get. */
  surprises: string[];
  loadAverage: number;
  classes: Tally['figures'];
}

/**
 * Honest Orders of a team, beside hostile clients of four users, for so many seconds. The team and its registries are there
 * (`prepareTeam`); namespaces of hostile users are made and removed.
 */
export async function mixedLoad(registries: Registries, seconds: number): Promise<Summary> {
  const digest = await registries.seed('mixed/app', '1.0');
  await registries.seed('mixed/denied/app', '1.0');
  await apply(guardedType);
  const users = await Promise.all(hostileNamespaces.map(makeHostile));
  const jo: User = { namespace: 'team', token: await tokenOf('team', 'jo') };
  const admin = await client();
  const { url, ca } = await aggregator();
  const serving = { ca: await ownAuthority(), servername: `api-server.${arc}.svc` };
  const api = httpsClient(url, { ca }, { authorization: `Bearer ${jo.token}` });
  const stop = new AbortController();
  const watched: Watched = {
    restarts: [],
    longestPauseMs: 0,
    longestWorkMs: 0,
    longPauses: 0,
    functions: [],
  };
  const settled: Settled = { orders: {}, seconds: [], wrong: [] };

  const scene: Scene = {
    users,
    modest: jo,
    functions: [],
    victims: [],
    aggregated: { url, ca },
    direct: { ...serving, url: `https://${await clusterAddress(arc, 'api-server')}:443` },
    broker: await brokerAddress(),
  };
  const children = (['hostile', 'probe'] as const).map((role) => startChild(role, scene));
  const begun = performance.now();
  const tell = async () => {
    for (let turn = 1; !stop.signal.aborted; turn += 1) {
      const victims = await victimsOf(api);
      children[0]?.tell({ ...scene, victims, functions: watched.functions });
      await sleep(lookEveryMs);
      const { restarts, longestPauseMs, longestWorkMs } = watched;
      if (turn % looksPerReport === 0)
        console.log(
          JSON.stringify({
            after: Math.round((performance.now() - begun) / 1000),
            restarts,
            longestPauseMs,
            longestWorkMs,
            ...settled,
            seconds: spread(settled.seconds),
          }),
        );
    }
  };
  const token = await tokenOf(arc, 'metrics-reader');
  const side = [watchOver(admin, { ...serving, token }, watched, stop.signal), tell()];
  const end = AbortSignal.timeout(seconds * 1000);
  const lanes = Array.from({ length: honestLanes }, (_, lane) =>
    orderHonestly({ api, registries, digest, lane, settled }, end),
  );
  try {
    // What fails on the side ends it at once.
    await Promise.race([Promise.all(lanes), ...side]);
  } finally {
    stop.abort();
  }
  const took = (performance.now() - begun) / 1000;
  await Promise.all(side);
  const tallies = await Promise.all(children.map((child) => child.stop()));
  await kubectl('delete', 'namespace', ...hostileNamespaces, '--wait=false');
  api.close();
  admin.close();
  return summed(took, tallies, settled, watched);
}

async function makeHostile(namespace: string): Promise<User> {
  for (const object of hostileObjects(namespace)) await apply(object);
  return { namespace, token: await tokenOf(namespace, 'hostile') };
}

export function tokenOf(namespace: string, account: string): Promise<string> {
  return kubectl('-n', namespace, 'create', 'token', account, '--duration=3h');
}

/** Where kube-apiserver is, and the authority of its certificate. */
export async function aggregator(): Promise<{ url: string; ca: string }> {
  const config = JSON.parse(
    await kubectl('config', 'view', '--minify', '--flatten', '--raw', '-o', 'json'),
  ) as {
    clusters: { cluster: { server: string; 'certificate-authority-data': string } }[];
  };
  const cluster = config.clusters[0]?.cluster;
  if (!cluster) throw new Error('KUBECONFIG names no cluster');
  return { url: cluster.server, ca: Buffer.from(cluster['certificate-authority-data'], 'base64').toString() };
}

async function ownAuthority(): Promise<string> {
  const bundle = await field('{.spec.caBundle}', 'apiservice', 'v1alpha1.arc.opendefense.cloud');
  return Buffer.from(bundle, 'base64').toString();
}

function clusterAddress(namespace: string, service: string): Promise<string> {
  return field('{.spec.clusterIP}', '-n', namespace, 'service', service);
}

async function brokerAddress(): Promise<string> {
  const { hostname, pathname } = new URL(await field('{.status.address.url}', '-n', arc, 'broker', 'arc'));
  const [service = '', namespace = ''] = hostname.split('.');
  return `http://${await clusterAddress(namespace, service)}${pathname}`;
}

const apiVersion = 'arc.opendefense.cloud/v1alpha1';

/** Objects of the team that events may be about. */
async function victimsOf(api: HttpsClient): Promise<Victim[]> {
  const kinds = { Order: 'orders', ArtifactWorkflow: 'artifactworkflows', Endpoint: 'endpoints' };
  const lists = Object.entries(kinds).map(async ([kind, plural]) => {
    const reply = await api
      .send('GET', `/apis/${apiVersion}/namespaces/team/${plural}?limit=10`)
      .catch(() => undefined);
    const items = reply?.code === 200 ? (reply.body().items ?? []) : [];
    return items.map(({ metadata: { name, uid = '' } }) => ({
      kind,
      apiVersion,
      namespace: 'team',
      name,
      uid,
    }));
  });
  return (await Promise.all(lists)).flat();
}

function summed(seconds: number, tallies: readonly Tally[], settled: Settled, watched: Watched): Summary {
  const classes: Tally['figures'] = Object.assign({}, ...tallies.map(({ figures }) => figures));
  const answers = new Map<string, number>();
  for (const { answers: counts } of Object.values(classes))
    for (const [code, count] of Object.entries(counts)) answers.set(code, (answers.get(code) ?? 0) + count);
  const all = [...answers];
  const sum = (accept: (code: string) => boolean) =>
    all.filter(([code]) => accept(code)).reduce((total, [, count]) => total + count, 0);
  const { restarts, longestPauseMs, longestWorkMs, longPauses } = watched;
  return {
    seconds: Math.round(seconds),
    requests: sum(() => true),
    refused: {
      429: sum((code) => code === '429'),
      other4xx: sum((code) => /^4\d\d$/.test(code) && code !== '429'),
    },
    serverErrors: Object.fromEntries(all.filter(([code]) => /^5\d\d$/.test(code))),
    restarts,
    longestPauseMs,
    longestWorkMs,
    pausesOver200Ms: longPauses,
    honest: {
      settled: Object.values(settled.orders).reduce((total, count) => total + count, 0),
      orders: settled.orders,
      wrong: settled.wrong,
      seconds: spread(settled.seconds),
    },
    surprises: tallies.flatMap(({ surprises }) => surprises),
    loadAverage: loadavg()[0] ?? 0,
    classes,
  };
}
