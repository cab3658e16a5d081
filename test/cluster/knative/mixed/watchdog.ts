import { setTimeout as sleep } from 'node:timers/promises';
import { senderTo } from '../../../fixtures/hostile/send.ts';
import type { HttpsClient } from '../../../fixtures/http/https-client.ts';
import { arc } from '../conduit.ts';

/** What became of the pods of ARC meanwhile. */
export interface Watched {
  /** Containers that were started again, and servers that were replaced. */
  restarts: string[];
  /** The longest time in which the event loop of an api-server did not come back, and the most work of one turn; ms. */
  longestPauseMs: number;
  longestWorkMs: number;
  /** How many of the pauses were longer than 200 ms. */
  longPauses: number;
  /** Addresses of the functions that have a pod. */
  functions: readonly string[];
}

/** Who may read /metrics of api-server, and the authority of its certificate. */
export interface Reader {
  token: string;
  ca: string;
  servername: string;
}

interface Pod {
  metadata: { name: string; uid: string; labels?: Record<string, string> };
  status?: { podIP?: string; phase?: string; containerStatuses?: { name: string; restartCount: number }[] };
}

const everyMs = 10_000;
const windowMs = 60_000;
/** Parts whose pods stay as long as nothing happens to them; functions come and go. */
const servers = ['api-server', 'etcd', 'watch-bridge', 'certificate-issuer'];
const partOf = ({ metadata }: Pod) => metadata.labels?.['app.kubernetes.io/name'] ?? '';

/** Looks at the pods of ARC, and at the metrics of its api-servers, until `signal` ends it. */
export async function watchOver(
  admin: HttpsClient,
  reader: Reader,
  watched: Watched,
  signal: AbortSignal,
): Promise<void> {
  const counts = restartCounter();
  /** Of each api-server, when it was first looked at, and its pauses until the last look. */
  const before = new Map<string, Looks>();
  while (!signal.aborted) {
    const items = await podsOf(admin);
    watched.restarts = counts(items);
    const running = items.filter(({ status }) => status?.phase === 'Running' && status.podIP);
    watched.functions = running
      .filter(({ metadata }) => metadata.labels?.['serving.knative.dev/service'] !== undefined)
      .map(({ status }) => `http://${status?.podIP}:8012`);
    for (const pod of running.filter((one) => partOf(one) === 'api-server'))
      await readPauses(pod, reader, watched, before);
    await sleep(everyMs, undefined, { signal }).catch(() => undefined);
  }
}

/** None where the cluster does not answer in time: the next look finds them. */
async function podsOf(admin: HttpsClient): Promise<Pod[]> {
  const reply = await admin.send('GET', `/api/v1/namespaces/${arc}/pods`).catch(() => undefined);
  return reply?.code === 200 ? (reply.body() as { items: Pod[] }).items : [];
}

/** What was started again since the first look, in words. */
function restartCounter(): (pods: readonly Pod[]) => string[] {
  let first: Map<string, number> | undefined;
  const restarted = new Set<string>();
  return (pods) => {
    const now = new Map(pods.flatMap(startsOf));
    if (now.size === 0) return [...restarted];
    first ??= now;
    for (const [what, starts] of now) if (starts > (first.get(what) ?? 0)) restarted.add(what);
    return [...restarted];
  };
}

/** How often the containers of a pod were started again; a server's pod that is new counts as one that was. */
function startsOf(pod: Pod): [string, number][] {
  const { name, uid } = pod.metadata;
  const containers = (pod.status?.containerStatuses ?? []).map((container): [string, number] => [
    `${name} ${container.name}`,
    container.restartCount,
  ]);
  return servers.includes(partOf(pod)) ? [[`${name} ${uid}`, 1], ...containers] : containers;
}

interface Looks {
  /** Of `performance.now()`. */
  since: number;
  pauses: number;
}

async function readPauses(
  { metadata, status }: Pod,
  reader: Reader,
  watched: Watched,
  before: Map<string, Looks>,
): Promise<void> {
  const { token, ca, servername } = reader;
  const sender = senderTo(
    { url: `https://${status?.podIP}:8443`, ca, servername },
    { authorization: `Bearer ${token}` },
  );
  const { code, text } = await sender.send({ method: 'GET', path: '/metrics' });
  sender.close();
  // A server that is overloaded by others refuses this as well.
  if (code !== 200) return;
  const value = (name: string) => Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(text)?.[1] ?? Number.NaN);
  const long =
    value('event_loop_pause_seconds_count') - value('event_loop_pause_seconds_bucket\\{le="0.2"\\}');
  const former = before.get(metadata.uid);
  const now = performance.now();
  before.set(metadata.uid, { since: former?.since ?? now, pauses: long });
  if (former === undefined) return;
  watched.longPauses += long - former.pauses;
  // The longest of the last minute: until then it may be one of the server's own start.
  if (now - former.since < windowMs) return;
  watched.longestPauseMs = Math.max(
    watched.longestPauseMs,
    Math.round(1000 * value('event_loop_longest_pause_seconds')),
  );
  watched.longestWorkMs = Math.max(
    watched.longestWorkMs,
    Math.round(1000 * value('event_loop_longest_work_seconds')),
  );
}
