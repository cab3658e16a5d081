import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeClient } from '#shared/kubernetes/client';
import { prepareTeam, removeTeam } from '../../cluster/knative/team.ts';
import { median, progress, report } from '../measure/report.ts';
import { findPodsRoot } from './cgroups.ts';
import { toRest } from './cluster.ts';
import { startCpuAccount } from './cpu-account.ts';
import { followPods } from './follow.ts';
import { type OrderRun, type OrderSetting, runOrder } from './order-run.ts';
import { type Pod, sumByPart } from './parts.ts';

/** Artifacts of an Order, and how often each is run: the large ones take minutes and vary less. */
const plan = [
  { size: 1, runs: 3 },
  { size: 10, runs: 3 },
  { size: 50, runs: 1 },
];
const idleMs = 30_000;

/** Orders of several sizes between two registries in the cluster, each from functions at zero to functions at zero; before them, what ARC uses with nothing to do. */
export async function benchClusterOrders(client: KubeClient): Promise<void> {
  const stop = new AbortController();
  try {
    const pods = followPods(client, stop.signal);
    const podsRoot = findPodsRoot();
    if (podsRoot === undefined)
      progress('CPU is not counted: it is read from the cgroups of the node, and this machine is none');
    const registries = await prepareTeam();
    await registries.seed('bench/app', '1.0', 4096);
    await toRest();
    if (podsRoot !== undefined) await reportIdle(podsRoot, pods);
    const setting = { client, namespace: 'team', image: 'bench/app:1.0', pods, podsRoot };
    for (const { size, runs } of plan) await benchSize(setting, size, runs);
  } finally {
    stop.abort();
    await removeTeam();
  }
}

async function reportIdle(podsRoot: string, pods: ReadonlyMap<string, Pod>): Promise<void> {
  progress(`idle for ${idleMs / 1000} s`);
  const account = startCpuAccount(podsRoot);
  await sleep(idleMs);
  const cpu = sumByPart(account.stop().pods, pods);
  for (const part of ['api-server', 'watch-bridge', 'etcd']) {
    const ours = ((cpu.get(part) ?? 0) / idleMs) * 60_000;
    report({ bench: 'knative', case: `idle ${part}`, n: 1, ours, unit: 's of CPU/min', less: true });
  }
}

async function benchSize(setting: OrderSetting, size: number, runs: number): Promise<void> {
  const done: OrderRun[] = [];
  for (let run = 1; run <= runs; run += 1) {
    await toRest();
    const measured = await runOrder(setting, `bench-${size}-${run}`, size);
    done.push(measured);
    progress(`order of ${size}, run ${run} of ${runs}: ${told(measured)}`);
  }
  const figure = (name: string, unit: string, of: (run: OrderRun) => number) =>
    report({
      bench: 'knative',
      case: `order ${name}`,
      n: size,
      ours: median(done.map(of)),
      unit,
      less: true,
    });
  figure('to Workflows', 's', (run) => run.toWorkflows);
  figure('to Succeeded', 's', (run) => run.toSucceeded);
  figure('last Workflow to Succeeded', 's', (run) => run.toldAfter);
  figure('requests', 'requests/artifact', ({ requests }) => sum(requests.values()) / size);
  for (const part of new Set(done.flatMap(({ cpu }) => [...cpu.keys()])))
    figure(`CPU ${part}`, 's of CPU', ({ cpu }) => cpu.get(part) ?? 0);
}

function told({ toWorkflows, toSucceeded, toldAfter, requests }: OrderRun): string {
  const each = [...requests].map(([account, count]) => `${account} ${count}`).join(', ');
  return `Workflows after ${toWorkflows.toFixed(1)} s, Succeeded after ${toSucceeded.toFixed(1)} s (${toldAfter.toFixed(1)} s after the last Workflow); requests: ${each}`;
}

function sum(numbers: Iterable<number>): number {
  return [...numbers].reduce((total, each) => total + each, 0);
}
