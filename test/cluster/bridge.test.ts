import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod';
import { eventually } from '../../shared/base/testing/eventually.ts';
import { type AggregatedServer, startAggregated } from '../fixtures/cluster/aggregated-server.ts';
import { argoDefinitions } from '../fixtures/cluster/argo-definitions.ts';
import { prepareBridge, startBridge } from '../fixtures/cluster/bridge-process.ts';
import { describeCluster } from '../fixtures/cluster/cluster.ts';
import { type ControlPlane, startControlPlane } from '../fixtures/cluster/control-plane.ts';
import { startTcpProxy, type TcpProxy } from '../fixtures/http/tcp-proxy.ts';
import type { Program } from '../fixtures/program.ts';

/** A broker that writes down who sent what. */
async function startSink() {
  const taken: { sender: string; event: string }[] = [];
  const refused: string[] = [];
  const state = { status: 202 };
  const server = createServer((request, response) => {
    const { headers, url = '' } = request;
    request.resume().on('end', () => {
      const sender = url.slice(1);
      const event = `${headers['ce-kind']} ${headers['ce-name']} ${headers['ce-step']}`;
      if (state.status === 202) taken.push({ sender, event });
      else refused.push(sender);
      response.writeHead(state.status).end();
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    taken,
    refused,
    state,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** One replica: a process with the token of the ServiceAccount, and a way to kube-apiserver of its own. */
interface Replica {
  name: string;
  program: Program;
  proxy: TcpProxy;
  ask(what: string): Promise<{ status: number; text: string }>;
  leads(): Promise<boolean>;
  /** Of several shards, those that it leads. */
  shards(): Promise<string[]>;
}

describeCluster('replicas of watch-bridge on a real kube-apiserver', ({ assets, host }) => {
  let plane: ControlPlane;
  let ours: AggregatedServer | undefined;
  let sink: Awaited<ReturnType<typeof startSink>>;
  const replicas: Replica[] = [];
  const made: string[] = [];

  async function startReplica(name: string, shards = 1): Promise<Replica> {
    const proxy = await startTcpProxy(Number(new URL(plane.url).port));
    const program = startBridge(plane, `${sink.url}/${name}`, {
      ARC_API_SERVER: `https://127.0.0.1:${proxy.port}`,
      ARC_BRIDGE_SHARDS: String(shards),
    });
    let port = '';
    const ask = async (what: string) => {
      const answer = await fetch(`http://127.0.0.1:${port}/${what}`, { signal: AbortSignal.timeout(5_000) });
      return { status: answer.status, text: await answer.text() };
    };
    const replica: Replica = {
      name,
      program,
      proxy,
      ask,
      leads: async () => /^arc_bridge_leader 1$/m.test((await ask('metrics')).text),
      shards: async () => {
        const { text } = await ask('metrics');
        return [...text.matchAll(/^arc_bridge_leader\{shard="(\d+)"\} 1$/gm)].map(([, shard = '']) => shard);
      },
    };
    replicas.push(replica);
    await eventually(`replica ${name} to answer`, 30_000, () => {
      program.mustRun();
      port = /"port":(\d+)/.exec(program.output.stdout)?.[1] ?? '';
      if (port === '') throw new Error(program.output.stdout);
    });
    return replica;
  }

  async function leaderAmong(...some: Replica[]): Promise<{ leader: Replica; standby: Replica | undefined }> {
    let found: Replica | undefined;
    await eventually('a replica to lead and be ready', 60_000, async () => {
      for (const one of some)
        if ((await one.leads()) && (await one.ask('health/readiness')).status === 200) found = one;
      if (found === undefined) throw new Error(some.map(({ program }) => program.output.stdout).join('\n'));
    });
    if (found === undefined) throw new Error('nobody leads');
    return { leader: found, standby: some.find((one) => one !== found) };
  }

  async function makeOrders(...names: string[]): Promise<void> {
    const items = names.map((name) => ({
      apiVersion: 'arc.opendefense.cloud/v1alpha1',
      kind: 'Order',
      metadata: { name, namespace: 'team' },
      spec: {
        artifacts: [
          { type: 'oci', srcRef: { name: 's' }, dstRef: { name: 'd' }, spec: { image: 'team/app:1.0' } },
        ],
      },
    }));
    const list = { apiVersion: 'v1', kind: 'List', items };
    await plane.kubectl(['create', '-f', '-'], { input: JSON.stringify(list) });
    made.push(...names);
  }

  const announced = (event: string, by?: Replica) =>
    eventually(`"${event}" to be announced`, 60_000, () => {
      const found = sink.taken.some(
        (one) => one.event.startsWith(event) && (by === undefined || one.sender === by.name),
      );
      if (!found) throw new Error(`${sink.taken.length} events taken`);
    });

  beforeAll(async () => {
    plane = await startControlPlane(assets, host);
    sink = await startSink();
    for (const name of ['arc-system', 'team']) await plane.kubectl(['create', 'namespace', name]);
    await prepareBridge(plane);
  }, 180_000);

  afterAll(async () => {
    for (const { program, proxy } of replicas) {
      program.child.kill('SIGCONT');
      program.child.kill('SIGKILL');
      await program.stop();
      await proxy.close();
    }
    await ours?.stop();
    await plane?.stop();
    sink?.close();
  }, 60_000);

  it('wait for the API of ARC, and do without Argo until it is there', async () => {
    const [a, b] = [await startReplica('a'), await startReplica('b')];
    await eventually('one to lead, the other to be ready as standby', 40_000, async () => {
      const leads = await Promise.all([a.leads(), b.leads()]);
      expect(leads.toSorted()).toEqual([false, true]);
      const ready = await Promise.all([a.ask('health/readiness'), b.ask('health/readiness')]);
      // The one that leads has nothing to list yet.
      expect(ready.map(({ status }) => status)).toEqual(leads.map((isLeader) => (isLeader ? 503 : 200)));
    });
    ours = await startAggregated(plane, host, { store: 'embedded' });
    const { leader } = await leaderAmong(a, b);
    expect(leader.program.output.stdout).toContain(
      'the cluster does not serve Workflow of argoproj.io/v1alpha1 (not installed?)',
    );
    await makeOrders('first');
    await announced('Order first');

    await plane.kubectl(['apply', '-f', '-'], { input: argoDefinitions });
    await plane.kubectl(['apply', '-f', '-'], { input: someWork });
    const { stdout: uid } = await plane.kubectl([
      ...['get', 'artifactworkflow', 'one', '-n', 'team', '-o', 'jsonpath={.metadata.uid}'],
    ]);
    await eventually('the kinds of Argo to be served', 30_000, () =>
      plane.kubectl(['apply', '-f', '-'], { input: workflowOf(uid) }).then(() => undefined),
    );
    await announced('ArtifactWorkflow one sync', leader);
  }, 180_000);

  it('go on when the API of ARC was away', async () => {
    await ours?.first.stop();
    await ours?.first.start();
    await eventually('the API to be back', 40_000, () =>
      plane.kubectl(['get', 'orders', '-n', 'team']).then(() => undefined),
    );
    await makeOrders('after-restart');
    await announced('Order after-restart');
  }, 120_000);

  it('hand over when the leader is killed, and nothing made meanwhile is lost', async () => {
    const { leader, standby } = await leaderAmong(...replicas);
    leader.program.child.kill('SIGKILL');
    await makeOrders('while-nobody-led');
    await announced('Order while-nobody-led', standby);
    await makeOrders('after-kill');
    await announced('Order after-kill', standby);
  }, 120_000);

  it('let a leader that was stopped send nothing once another leads', async () => {
    const { leader } = await leaderAmong(...replicas.filter(isRunning));
    const other = await startReplica('c');
    // Events that wait for another try: they are what a process that goes on would send first.
    sink.state.status = 503;
    await makeOrders(...Array.from({ length: 20 }, (_, index) => `refused-${index}`));
    await eventually('the leader to have much to retry', 30_000, () => {
      expect(sink.refused.filter((name) => name === leader.name).length).toBeGreaterThanOrEqual(20);
    });
    leader.program.child.kill('SIGSTOP');
    sink.state.status = 202;
    await leaderAmong(other);
    await announced('Order refused-0', other);
    const before = sink.taken.length;
    leader.program.child.kill('SIGCONT');
    await eventually('the stopped one to stand by', 30_000, async () => {
      expect(await leader.leads()).toBe(false);
      expect((await leader.ask('health/readiness')).status).toBe(200);
    });
    await makeOrders('after-stop');
    await announced('Order after-stop', other);
    expect(sink.taken.slice(before).filter(({ sender }) => sender === leader.name)).toEqual([]);
  }, 120_000);

  it('fall silent before another leads when the way to the API is cut', async () => {
    const { leader, standby } = await leaderAmong(...replicas.filter(isRunning));
    if (standby === undefined) throw new Error('there is no standby');
    leader.proxy.cut();
    await leaderAmong(standby);
    // It may not lead any more although nothing has told it so.
    expect(await leader.leads()).toBe(false);
    const before = sink.taken.length;
    await makeOrders('while-cut');
    await announced('Order while-cut', standby);
    leader.proxy.heal();
    await eventually('the one that was cut off to stand by', 40_000, async () => {
      expect((await leader.ask('health/readiness')).status).toBe(200);
    });
    expect(await leader.leads()).toBe(false);
    expect(sink.taken.slice(before).filter(({ sender }) => sender === leader.name)).toEqual([]);
  }, 120_000);

  it('hand over at once when the leader ends cleanly', async () => {
    const { leader, standby } = await leaderAmong(...replicas.filter(isRunning));
    expect(await leader.program.stop()).toBe(0);
    await makeOrders('after-end');
    await announced('Order after-end', standby);
    const { stdout } = await plane.kubectl([
      ...['get', 'lease', 'watch-bridge', '-n', 'arc-system', '-o', 'jsonpath={.spec.leaseTransitions}'],
    ]);
    expect(Number(stdout)).toBeGreaterThanOrEqual(5);
    for (const name of made) await announced(`Order ${name}`);
  }, 120_000);

  it('become three that divide the shards, beside the one that leads, and no event is lost when one of them is killed', async () => {
    const text = await readFile('knative/components/sharded-bridge/kustomization.yaml', 'utf8');
    const { patches } = z
      .looseObject({ patches: z.array(z.looseObject({ patch: z.string().optional() })) })
      .parse(parse(text));
    const patch = JSON.stringify(parse(patches.find((one) => one.patch !== undefined)?.patch ?? ''));
    await plane.kubectl([
      'patch',
      'role',
      'arc-watch-bridge',
      '-n',
      'arc-system',
      '--type=json',
      '-p',
      patch,
    ]);
    const three = [await startReplica('x', 3), await startReplica('y', 3), await startReplica('z', 3)];
    const led = async (some: readonly Replica[]) => Promise.all(some.map((one) => one.shards()));
    await eventually('each of three to lead one shard and be ready', 60_000, async () => {
      expect((await led(three)).map(({ length }) => length)).toEqual([1, 1, 1]);
      for (const one of three) expect((await one.ask('health/readiness')).status).toBe(200);
    });
    for (const one of replicas.filter((each) => isRunning(each) && !three.includes(each)))
      await one.program.stop();
    const names = Array.from({ length: 12 }, (_, at) => `divided-${at}`);
    await makeOrders(...names);
    for (const name of names) await announced(`Order ${name} decompose`);
    const senders = names.map(
      (name) =>
        new Set(
          sink.taken.flatMap(({ sender, event }) => (event === `Order ${name} decompose` ? [sender] : [])),
        ),
    );
    for (const some of senders) expect(some.size).toBe(1);
    expect(new Set(senders.flatMap((some) => [...some])).size).toBeGreaterThan(1);

    const [killed, ...rest] = three;
    killed?.program.child.kill('SIGKILL');
    const began = performance.now();
    const meanwhile = Array.from({ length: 12 }, (_, at) => `undivided-${at}`);
    await makeOrders(...meanwhile);
    await eventually('the others to lead all shards', 60_000, async () => {
      expect((await led(rest)).flat().toSorted()).toEqual(['0', '1', '2']);
    });
    // 23 s, and what a machine under load adds.
    expect(performance.now() - began).toBeLessThan(35_000);
    for (const name of meanwhile) await announced(`Order ${name}`);
  }, 240_000);

  it('lose nothing when three shards become two', async () => {
    const before = replicas.filter(isRunning);
    await makeOrders('of-three');
    const two = [await startReplica('p', 2), await startReplica('q', 2)];
    await eventually('both to be ready', 60_000, async () => {
      for (const one of two) expect((await one.ask('health/readiness')).status).toBe(200);
      const led = await Promise.all(two.map((one) => one.shards()));
      expect(led.flat().toSorted()).toEqual(['0', '1']);
    });
    await makeOrders('of-both');
    for (const one of before) expect(await one.program.stop()).toBe(0);
    await makeOrders('of-two');
    for (const name of ['of-three', 'of-both', 'of-two']) await announced(`Order ${name}`);
  }, 180_000);
});

function isRunning({ program }: Replica): boolean {
  return program.child.exitCode === null && program.child.signalCode === null;
}

const someWork = `
apiVersion: arc.opendefense.cloud/v1alpha1
kind: ArtifactWorkflow
metadata: { name: one, namespace: team }
spec: { workflowTemplateRef: { name: arc-oci-image, clusterScope: true } }
`;

const workflowOf = (uid: string) => `
apiVersion: argoproj.io/v1alpha1
kind: Workflow
metadata:
  name: one
  namespace: team
  ownerReferences:
    - { apiVersion: arc.opendefense.cloud/v1alpha1, kind: ArtifactWorkflow, name: one, uid: ${uid}, controller: true }
spec: {}
status: { phase: Running }
`;
