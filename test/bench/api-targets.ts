import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { build } from 'esbuild';
import { bundleSettings } from '../../scripts/build/bundle.ts';
import { loadPki } from '../../scripts/standalone/pki.ts';
import { Client, type Server } from '../conformance/client.ts';
import { prepare } from '../conformance/prepare.ts';
import { startReference } from '../conformance/reference.ts';
import { startEtcd } from '../fixtures/etcd/process.ts';
import { freePorts } from '../fixtures/program.ts';
import type { Stall } from './measure/api-child.ts';
import { http2Connections } from './measure/http2-connection.ts';
import { startOurs } from './measure/our-server.ts';
import { type Usage, usageOf } from './measure/process-usage.ts';
import { type BenchConnection, RawConnection } from './measure/raw-connection.ts';

/** The namespaces of the seeded objects, of those that are created while it is measured, and of the many for `stall`. */
export const namespace = 'bench';
export const writes = 'bench-writes';
export const many = 'bench-many';

/** A server under measurement. */
export interface Target {
  name: 'ours' | 'theirs' | 'bare' | 'two';
  group: string;
  /** Of the process, or of both together. */
  usage(): Promise<Usage>;
  open(): Promise<BenchConnection>;
  /** The body that a GET of `path` is answered with. */
  read(path: string): Promise<string>;
}

export interface Targets {
  ours: Target;
  theirs: Target;
  /** Both over HTTP/2: requests and watches share connections. */
  http2: readonly [ours: Target, theirs: Target];
  /** Starts a bare hono server that answers with `sample`, one of our objects as we print it: what Node can do at most. */
  bare(sample: string): Promise<Target>;
  /** Starts a second process of ours on the same etcd; every other connection goes to it. */
  two(): Promise<Target>;
  /** How long our event loop was held up since this was last asked. */
  stall(): Promise<Stall>;
  stop(): Promise<void>;
}

/**
 * Both servers, each on an etcd of its own, with the same schemas and the same user. Ours is the program of
 * functions/api-server; the reference is also the cluster it asks who its user is and which namespaces there are.
 * @param assets the folder of etcd and kube-apiserver
 */
export async function startTargets(assets: string): Promise<Targets> {
  const folder = await mkdtemp(path.join(tmpdir(), 'arc-bench-'));
  const stops: (() => Promise<void>)[] = [() => rm(folder, { recursive: true, force: true })];
  const stop = async () => {
    for (const one of stops.reverse()) await one();
  };
  try {
    const pki = await loadPki(folder, new Date());
    const token = () => randomBytes(24).toString('hex');
    const tokens = { admin: token(), nobody: token(), wrong: token(), anonymous: '' };
    const reference = await startReference(assets, path.join(folder, 'theirs'), pki, tokens);
    stops.push(reference.stop);
    const etcd = await startEtcd(path.join(assets, 'etcd'));
    stops.push(etcd.stop);
    const start = async (name: string) => {
      const parts = { pki, token: tokens.admin, etcd: etcd.endpoint, cluster: reference.server.url };
      const started = await startOurs({ folder: path.join(folder, name), ...parts });
      stops.push(started.stop);
      return started;
    };
    const ours = await start('ours');
    const server: Server = {
      name: 'ours',
      url: ours.url,
      ca: pki.ca,
      group: 'arc.opendefense.cloud',
      tokens,
    };
    const clients = { ours: new Client(server), theirs: new Client(reference.server) };
    stops.push(async () => {
      for (const client of Object.values(clients)) client.close();
    });
    await prepare(clients.ours, clients.theirs);
    for (const name of [namespace, writes, many]) await createNamespace(clients.theirs, name);
    const targets = {
      ours: targetOf('ours', clients.ours, ours.pid),
      theirs: targetOf('theirs', clients.theirs, reference.pid),
    };
    return {
      ...targets,
      http2: [overHttp2(targets.ours, clients.ours), overHttp2(targets.theirs, clients.theirs)],
      async bare(sample) {
        const bare = await startBare(path.join(folder, 'ours'), sample);
        stops.push(bare.stop);
        const client = new Client({ ...server, url: bare.url });
        stops.push(async () => client.close());
        return targetOf('bare', client, bare.pid);
      },
      async two() {
        const second = await start('second');
        const client = new Client({ ...server, url: second.url });
        stops.push(async () => client.close());
        return inTurn(targetOf('two', clients.ours, ours.pid), targetOf('two', client, second.pid));
      },
      stall: ours.stall,
      stop,
    };
  } catch (caught) {
    await stop();
    throw caught;
  }
}

function targetOf(name: Target['name'], client: Client, pid: number): Target {
  const { url, ca, group, tokens } = client.server;
  return {
    name,
    group,
    usage: () => usageOf(pid),
    open: () => RawConnection.open(url, ca, tokens.admin),
    async read(path) {
      const { text } = await client.send({ method: 'GET', path, headers: asAdmin(client), body: undefined });
      return text;
    },
  };
}

function overHttp2(target: Target, { server: { url, ca, tokens } }: Client): Target {
  return { ...target, open: http2Connections(url, ca, tokens.admin) };
}

/** Both as one: connections by turns. */
function inTurn(first: Target, second: Target): Target {
  let opened = 0;
  return {
    ...first,
    open: () => (opened++ % 2 === 0 ? first : second).open(),
    async usage() {
      const [a, b] = await Promise.all([first.usage(), second.usage()]);
      return {
        cpuSeconds: a.cpuSeconds + b.cpuSeconds,
        mebibytes: a.mebibytes + b.mebibytes,
        peakMebibytes: a.peakMebibytes + b.peakMebibytes,
      };
    },
  };
}

function asAdmin({ server }: Client) {
  return { authorization: `Bearer ${server.tokens.admin}`, 'content-type': 'application/json' };
}

async function createNamespace(client: Client, name: string): Promise<void> {
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const raw = { method: 'POST', path: '/api/v1/namespaces', headers: asAdmin(client), body };
  const { code, text } = await client.send(raw);
  if (code !== 201) throw new Error(`namespace ${name}: ${code} ${text}`);
}

/** @param folder that of our server's certificate and key */
async function startBare(folder: string, sample: string) {
  await writeFile(path.join(folder, 'sample.json'), sample);
  const outfile = path.join(folder, 'bare.mjs');
  const entryPoints = [path.join(import.meta.dirname, 'bare-hono/tls-server.ts')];
  await build({ ...bundleSettings, entryPoints, outfile });
  const [port] = await freePorts(1);
  const child = fork(outfile, { cwd: folder, env: { ...process.env, PORT: String(port) } });
  const exited = once(child, 'exit');
  await once(child, 'message', { signal: AbortSignal.timeout(10_000) });
  return {
    url: `https://127.0.0.1:${port}`,
    pid: child.pid ?? 0,
    async stop() {
      child.disconnect();
      await exited;
    },
  };
}
