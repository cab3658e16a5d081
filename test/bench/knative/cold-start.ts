import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { stepEvent, toBinaryRequest } from '#shared/conduit/events';
import { artifactWorkflows, orders, type Step } from '#shared/domain';
import { apply, field, kubectl } from '../../cluster/knative/kubectl.ts';
import { bareHonoImage, bareHonoName, bareHonoService } from '../bare-hono/service.ts';
import { median, progress, report } from '../measure/report.ts';
import { toRest } from './cluster.ts';

// a multiple of three, so that each is as often the first as the others
const rounds = 9;
const settleMs = 2_000;
const arc = 'arc-system';
const callerPod = 'arc-bench-caller';

/** What each function is called for: objects that do not exist, so that the answer is that nothing is to be done. */
const functions: Record<string, { kind: typeof orders | typeof artifactWorkflows; step: Step }> = {
  'decompose-order': { kind: orders, step: 'decompose' },
  'sync-status': { kind: artifactWorkflows, step: 'sync' },
};

/**
 * An event for a function at zero, from the POST to its answer, beside a bare server that is a Knative Service of the same settings. Sent by a pod to
 * the cluster-local address, so through ingress, activator and queue-proxy, as a broker would. All are at zero before each round, and
 * take turns in being first.
 */
export async function benchColdStart(): Promise<void> {
  const names = [bareHonoName, ...Object.keys(functions)];
  try {
    await installBareHono();
    await startCaller();
    const measured = new Map<string, number[]>(names.map((name) => [name, []]));
    for (let round = 0; round < rounds; round += 1) {
      await toRest();
      // kubelet is still at clearing away
      await sleep(settleMs);
      const shift = round % names.length;
      for (const name of [...names.slice(shift), ...names.slice(0, shift)]) {
        const cold = await call(name);
        measured.get(name)?.push(cold);
        const warm = await call(name);
        progress(
          `cold ${name}, round ${round + 1} of ${rounds}: ${cold.toFixed(0)} ms, warm ${warm.toFixed(0)} ms`,
        );
      }
    }
    const theirs = median(measured.get(bareHonoName) ?? []);
    for (const name of Object.keys(functions)) {
      const ours = median(measured.get(name) ?? []);
      report({ bench: 'knative', case: `cold ${name}`, n: rounds, ours, theirs, unit: 'ms', less: true });
    }
  } finally {
    await kubectl('-n', arc, 'delete', 'ksvc', bareHonoName, '--ignore-not-found');
    await kubectl('-n', 'default', 'delete', 'pod', callerPod, '--ignore-not-found', '--grace-period=1');
  }
}

async function installBareHono(): Promise<void> {
  const like = JSON.parse(await kubectl('-n', arc, 'get', 'ksvc', 'decompose-order', '-o', 'json'));
  await apply(bareHonoService(like));
  const ready = ['--for=condition=Ready', `ksvc/${bareHonoName}`, '--timeout=90s'];
  await kubectl('-n', arc, 'wait', ...ready).catch((caught: unknown) => {
    throw new Error(`the bare server does not start: has the node its image, ${bareHonoImage}?`, {
      cause: caught,
    });
  });
}

async function startCaller(): Promise<void> {
  const image = await field('{.spec.template.spec.containers[0].image}', '-n', arc, 'ksvc', 'sync-status');
  const idle = ['node', '-e', 'setInterval(() => undefined, 1e9)'];
  await apply({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: callerPod, namespace: 'default' },
    spec: {
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: 1,
      containers: [{ name: 'caller', image, command: idle }],
    },
  });
  await kubectl('-n', 'default', 'wait', '--for=condition=Ready', `pod/${callerPod}`, '--timeout=60s');
}

/** Milliseconds until a Service has answered. */
async function call(name: string): Promise<number> {
  const url = await field('{.status.address.url}', '-n', arc, 'ksvc', name);
  const request = JSON.stringify({ url, ...eventFor(name) });
  const program = ['node', '--input-type=module-typescript', '-', request];
  const running = promisify(execFile)('kubectl', [
    '-n',
    'default',
    'exec',
    '-i',
    callerPod,
    '--',
    ...program,
  ]);
  const { stdin } = running.child;
  if (stdin) createReadStream(path.join(import.meta.dirname, 'call-once.ts')).pipe(stdin);
  const answer: { status: number; milliseconds: number } = JSON.parse((await running).stdout);
  if (answer.status !== 204) throw new Error(`${name} answers an event with ${answer.status}`);
  return answer.milliseconds;
}

function eventFor(name: string) {
  const { kind, step } = functions[name] ?? { kind: orders, step: 'decompose' };
  const uid = '00000000-0000-4000-8000-000000000000';
  const object = { apiVersion: kind.apiVersion, kind: kind.kind, namespace: 'default', name: 'absent', uid };
  const observed = { ...object, resourceVersion: '1' };
  const cause = { object, observed, step, reason: 'bench', partitionKey: uid, time: new Date() };
  return toBinaryRequest(stepEvent(cause));
}
