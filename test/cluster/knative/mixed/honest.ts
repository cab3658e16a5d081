import { setTimeout as sleep } from 'node:timers/promises';
import type { Order } from '#shared/domain';
import type { HttpsClient } from '../../../fixtures/http/https-client.ts';
import type { Registries } from '../images.ts';
import { orderOf } from '../team.ts';

/** What became of honest Orders. */
export interface Settled {
  /** By what they asked for. */
  orders: Record<string, number>;
  /** Seconds from the request until the Order said how it ended. */
  seconds: number[];
  /** What was not as it should be, in words. */
  wrong: string[];
}

type Counts = NonNullable<NonNullable<Order['status']>['counts']>;

/** An Order, and what its status has to say in the end. */
interface Wish {
  artifacts: object[];
  phase: string;
  counts: Partial<Counts>;
  /** A word of the message of an artifact that has failed. */
  says?: RegExp;
  /** Stopped as soon as it is there. */
  cancelled?: boolean;
}

const group = '/apis/arc.opendefense.cloud/v1alpha1/namespaces/team';
const path = `${group}/orders`;
/** Knative restarts its channel when that is starved of CPU, and backs off for minutes; what is late then is not wrong, and shows in `seconds`. */
const longestMs = 15 * 60_000;
/** A deadline, a server that ends, or its limit: people try again. */
const tryAgain = [429, 503, 504];

/** A type of the team whose policy denies a part of the source. */
export const guardedType = {
  apiVersion: 'arc.opendefense.cloud/v1alpha1',
  kind: 'ArtifactType',
  metadata: { name: 'guarded', namespace: 'team' },
  spec: {
    rules: { srcTypes: ['oci'], dstTypes: ['oci'] },
    target: ['specOverride', 'specImage'],
    workflowTemplateRef: { name: 'arc-oci-image', clusterScope: true },
    parameters: [{ name: 'policy', value: JSON.stringify({ repositories: { denied: ['*/denied/*'] } }) }],
  },
};

const wishes: Record<string, (name: string) => Wish> = {
  moved: (name) => ({
    artifacts: [image('mixed/app:1.0', `${name}/a`), image('mixed/app:1.0', `${name}/b`)],
    phase: 'Succeeded',
    counts: { succeeded: 2 },
  }),
  absent: (name) => ({
    artifacts: [image('mixed/app:1.0', `${name}/a`), image('mixed/absent:1.0', `${name}/b`)],
    phase: 'Failed',
    counts: { succeeded: 1, failed: 1 },
  }),
  'moved by a type with a policy': (name) => ({
    artifacts: [image('mixed/app:1.0', `${name}/a`, 'guarded')],
    phase: 'Succeeded',
    counts: { succeeded: 1 },
  }),
  'denied by a policy': (name) => ({
    artifacts: [image('mixed/denied/app:1.0', `${name}/a`, 'guarded')],
    phase: 'Failed',
    counts: { failed: 1 },
    says: /denied/,
  }),
  invalid: (name) => ({
    artifacts: [image('mixed/app:1.0', `${name}/a`, 'absent-type')],
    phase: 'Failed',
    counts: { invalid: 1 },
    says: /absent-type/,
  }),
  cancelled: (name) => ({
    artifacts: [image('mixed/app:1.0', `${name}/a`)],
    phase: 'Cancelled',
    counts: { cancelled: 1 },
    cancelled: true,
  }),
};
const turns = [
  'moved',
  'absent',
  'moved',
  'denied by a policy',
  'moved',
  'invalid',
  'moved by a type with a policy',
  'cancelled',
];

function image(from: string, to: string, type = 'oci'): object {
  return { type, spec: { image: from, override: `${to}:1.0` } };
}

/** One Order after the other, each followed to its end, until `signal` ends it; the last one is followed too. @param api as somebody who may write Orders of the team */
export async function orderHonestly(
  { api, registries, digest, lane, settled }: Setting,
  signal: AbortSignal,
): Promise<void> {
  for (let turn = lane; !signal.aborted; turn += 1) {
    const kind = turns[turn % turns.length] ?? 'moved';
    const name = `honest-${lane}-${turn}`;
    const wish = wishes[kind]?.(name);
    if (!wish) throw new Error(`nobody wishes for ${kind}`);
    const begun = performance.now();
    const problem = await fulfil(api, registries, digest, name, wish).catch((caught: unknown) =>
      String(caught),
    );
    settled.seconds.push((performance.now() - begun) / 1000);
    if (problem === undefined) settled.orders[kind] = (settled.orders[kind] ?? 0) + 1;
    else settled.wrong.push(`${name} (${kind}): ${problem}`);
  }
}

export interface Setting {
  api: HttpsClient;
  registries: Registries;
  /** Digest of mixed/app:1.0. */
  digest: string;
  lane: number;
  settled: Settled;
}

/** Resolves with what is wrong. */
async function fulfil(
  api: HttpsClient,
  registries: Registries,
  digest: string,
  name: string,
  wish: Wish,
): Promise<string | undefined> {
  await patiently(api, 'POST', path, orderOf(name, wish.artifacts));
  if (wish.cancelled) await patiently(api, 'PATCH', `${path}/${name}`, { spec: { cancel: true } });
  const order = await ended(api, name);
  const { phase, counts, artifactWorkflows = {} } = order.status ?? {};
  const told = JSON.stringify({ phase, counts, artifactWorkflows });
  if (phase !== wish.phase) return `it is ${told}, not ${wish.phase}`;
  const total = wish.artifacts.length;
  for (const [state, count] of Object.entries({
    total,
    invalid: 0,
    failed: 0,
    succeeded: 0,
    cancelled: 0,
    ...wish.counts,
  }))
    if (counts?.[state as keyof Counts] !== count) return `${count} should be ${state}: ${told}`;
  const entries = Object.values(artifactWorkflows);
  if (wish.says && !entries.some(({ message = '' }) => wish.says?.test(message)))
    return `nothing says ${wish.says}: ${told}`;
  const moved = entries.filter((entry) => entry.phase === 'Succeeded');
  if (moved.some((entry) => entry.digest !== digest)) return `another digest than ${digest}: ${told}`;
  if (phase === 'Succeeded') {
    const there = await registries.digest(`${registries.destination}/mirror/${name}/a:1.0`);
    if (there !== digest) return `the tag at the destination holds ${there}, not ${digest}`;
  }
  await patiently(api, 'DELETE', `${path}/${name}`);
  return undefined;
}

/** The Order when it has ended and says so of its present generation. */
export async function ended(api: HttpsClient, name: string): Promise<Order> {
  const deadline = performance.now() + longestMs;
  let last = '';
  while (performance.now() < deadline) {
    await sleep(1_000);
    const reply = await api.send('GET', `${path}/${name}`);
    last = reply.text;
    if (reply.code !== 200) continue;
    const order = reply.body() as Order;
    const { phase = '', observedGeneration } = order.status ?? {};
    if (observedGeneration === order.metadata.generation && /^(Succeeded|Failed|Cancelled)$/.test(phase))
      return order;
  }
  throw new Error(`it has not ended after ${longestMs / 1000} s: ${last}`);
}

/** Tries again where the server asks for it; rejects unless it succeeds. */
export async function patiently(api: HttpsClient, method: string, at: string, body?: object): Promise<void> {
  for (let tries = 0; ; tries += 1) {
    const reply = await api.send(method, at, body);
    if (reply.code < 300 || (tries > 0 && method === 'POST' && reply.code === 409)) return;
    if (tries >= 10 || !tryAgain.includes(reply.code))
      throw new Error(`${method} ${at}: ${reply.code} ${reply.text}`);
    await sleep(1_000);
  }
}
