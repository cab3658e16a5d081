import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../../shared/base/testing/eventually.ts';
import {
  arcPath,
  type Cluster,
  corePath,
  describeCluster,
  startCluster,
} from '../fixtures/cluster/cluster.ts';
import { newArtifactWorkflow, newNamespace } from '../fixtures/cluster/cluster-objects.ts';
import { kubeconfigOf } from '../fixtures/cluster/control-plane-files.ts';
import { compact, type EtcdProcess, startEtcd } from '../fixtures/etcd/process.ts';
import { type Program, start } from '../fixtures/program.ts';

/** How long they are put to it; `npm run soak` asks for ten minutes. */
const seconds = Number(process.env.ARC_SOAK_SECONDS ?? 40);
const compactEvery = 3_000;
/** Long enough, in a long run, for informers that back off to follow again in between. */
const restartEvery = Math.max(12_000, seconds * 100);
const namespace = 'soak';
const last = 'the-last';
const label = 'arc.test/selected';
const collection = arcPath('artifactworkflows', namespace);

/** What an informer says of itself at the end. */
interface Report {
  name: string;
  objects: number;
  adds: number;
  updates: number;
  deletes: number;
  lists: number;
  watches: number;
  faults: string[];
}

describeCluster('informers of client-go', (machine) => {
  let etcd: EtcdProcess;
  let cluster: Cluster;
  const programs: Program[] = [];

  beforeAll(async () => {
    etcd = await startEtcd(path.join(machine.assets, 'etcd'));
    cluster = await startCluster(machine, { store: 'etcd', etcd: etcd.endpoint });
    await cluster.api.must('POST', corePath('namespaces'), newNamespace(namespace));
  }, 180_000);
  afterAll(async () => {
    for (const program of programs) await program.kill();
    await cluster?.stop();
    await etcd?.stop();
  }, 60_000);

  /** Follows with dynamic and metadata informers, through the aggregator and directly. */
  async function follow(watchList: boolean): Promise<Program> {
    const { plane, ours } = cluster;
    const files = { aggregated: plane.url, direct: ours.first.url };
    const pki = (name: string) => path.join(plane.folder, 'pki', name);
    for (const [name, url] of Object.entries(files))
      await writeFile(path.join(plane.folder, name), kubeconfigOf(url, pki));
    const program = start(
      path.join(machine.assets, 'informers'),
      [
        ...[`-namespace=${namespace}`, `-selector=${label}=yes`, `-last=${last}`],
        `-deadline=${seconds + 300}s`,
        ...Object.keys(files).map((name) => path.join(plane.folder, name)),
      ],
      { ...process.env, KUBE_FEATURE_WatchListClient: String(watchList) },
    );
    programs.push(program);
    await eventually('the informers to be synchronised', 60_000, () => {
      program.mustRun();
      expect(program.output.stdout).toContain('synchronised');
    });
    return program;
  }

  /** Creates an object, takes it in and out of the selector, deletes it, and again. Whatever fails is tried anew. */
  async function writeLane(name: string, until: number): Promise<number> {
    const { api } = cluster;
    let writes = 0;
    for (let turn = 0; performance.now() < until; turn += 1) {
      const labels = { [label]: turn % 2 === 0 ? 'yes' : 'no' };
      const reply = await (turn % 5 === 4
        ? api.send('DELETE', `${collection}/${name}`)
        : turn % 5 === 0
          ? api.send('POST', collection, newArtifactWorkflow({ name, labels }))
          : api.send('PATCH', `${collection}/${name}`, { metadata: { labels } }));
      if (reply.code < 300) writes += 1;
      else expect([404, 409, 429, 500, 502, 503, 504]).toContain(reply.code);
      if (reply.code >= 429) await sleep(100);
    }
    return writes;
  }

  async function compactTo(until: number): Promise<void> {
    while (performance.now() < until) {
      await sleep(Math.min(compactEvery, until - performance.now()));
      const reply = await cluster.api.send('GET', `${collection}?limit=1`);
      if (reply.code === 200) await compact(etcd.endpoint, Number(reply.body().metadata.resourceVersion));
    }
  }

  async function restart(until: number): Promise<void> {
    const { first } = cluster.ours;
    for (let turn = 0; until - performance.now() > restartEvery; turn += 1) {
      await sleep(restartEvery);
      if (turn % 2 === 0) await first.stop();
      else await first.kill();
      await first.start();
    }
  }

  it(
    'hold what a list shows, after restarts, compactions and labels that come and go',
    async () => {
      const informers = await Promise.all([follow(true), follow(false)]);
      const until = performance.now() + seconds * 1000;
      const lanes = Array.from({ length: 8 }, (_, at) => writeLane(`lane-${at}`, until));
      const [written] = await Promise.all([Promise.all(lanes), compactTo(until), restart(until)]);
      await cluster.ours.available();
      await cluster.api.must(
        'POST',
        collection,
        newArtifactWorkflow({ name: last, labels: { [label]: 'yes' } }),
      );
      for (const program of informers) {
        await program.ended;
        const [, ...lines] = program.output.stdout.trim().split('\n');
        const reports = lines.map((line) => JSON.parse(line) as Report);
        expect(reports.map(({ name, faults }) => [name, faults])).toEqual(
          reports.map(({ name }) => [name, []]),
        );
        expect(reports).toHaveLength(8);
        expect(program.child.exitCode).toBe(0);
        for (const { adds, deletes } of reports) expect(adds + deletes).toBeGreaterThan(20);
        for (const { name, adds, updates, deletes, lists, watches } of reports)
          console.log(
            `${name}: ${adds} added, ${updates} updated, ${deletes} deleted; ${lists} lists, ${watches} watches`,
          );
      }
      expect(Math.min(...written)).toBeGreaterThan(0);
    },
    (seconds + 400) * 1000,
  );
});
