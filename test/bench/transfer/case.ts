import { setTimeout as sleep } from 'node:timers/promises';
import { type RegistryProcess, startRegistryProcess } from '../../fixtures/image/registry-tools.ts';
import { progress } from '../measure/report.ts';
import { type Measured, reportBest } from './best.ts';
import { missing, type Shape, storeImages } from './images.ts';
import type { Tool } from './measured-program.ts';
import { startRelay } from './relay.ts';

export interface Case {
  shape: Shape;
  rounds: number;
  /** False: every round counts. Otherwise there is one before, which does not. */
  warmUp?: boolean;
  /** Ours is a process that does one copy after the other. */
  pool?: boolean;
  /** Ours leaves it to the destination to hash the blobs. */
  unhashed?: boolean;
  /** The destination has the image. */
  unchanged?: boolean;
  /** What is broken off when half of the bytes have been sent; a tool that fails is run again. */
  cut?: 'connections' | 'process';
}

const mebibyte = 1024 * 1024;
const mostRuns = 3;
const logMs = 100;
const repository = 'bench/image';

/** Measures one case: every tool in each round, one after the other, each to an empty registry unless the case says that it has the image. */
export async function measureCase(
  folder: string,
  name: string,
  each: Case,
  tools: ReadonlyMap<string, Tool>,
): Promise<void> {
  const runs = new Map<string, Measured[]>([...tools.keys()].map((who) => [who, []]));
  const started = new Map<string, RegistryProcess>();
  const registryOf = async (who: string) => {
    const registry = started.get(who) ?? (await startRegistryProcess(folder));
    started.set(who, registry);
    return registry;
  };
  const stop = async (who: string) => {
    await started.get(who)?.stop();
    started.delete(who);
  };
  async function turn(who: string, tool: Tool, source: RegistryProcess, round: number): Promise<void> {
    const destination = await registryOf(who);
    const measured = await measureCopy(each, tool, source, destination);
    progress(`${name}: ${who}, round ${round} of ${each.rounds}: ${JSON.stringify(measured)}`);
    if (round > 0) runs.get(who)?.push(measured);
    const lacking = await missing(destination.host, repository, digests);
    if (lacking > 0) {
      if (who === 'ours') throw new Error(`${name}: ours leaves out ${lacking} manifests`);
      progress(`${name}: ${who} leaves out ${lacking} of ${digests.length} manifests: not compared`);
      runs.delete(who);
    }
    if (each.unchanged !== true) await stop(who);
  }
  let digests: readonly string[] = [];
  try {
    const source = await registryOf('source');
    digests = await storeImages(source.host, repository, each.shape);
    for (let round = each.warmUp === false ? 1 : 0; round <= each.rounds; round += 1)
      for (const [who, tool] of tools) if (runs.has(who)) await turn(who, tool, source, round);
  } finally {
    for (const who of [...started.keys()]) await stop(who);
  }
  reportBest(name, each.rounds, runs);
}

async function measureCopy(
  { cut, shape }: Case,
  tool: Tool,
  source: RegistryProcess,
  destination: RegistryProcess,
): Promise<Measured> {
  // Without a tag: all of the repository.
  const image = shape.tags === undefined ? `${repository}:1` : repository;
  const from = `${source.host}/${image}`;
  const before = source.requests() + destination.requests();
  const cost =
    cut === undefined
      ? await tool(from, `${destination.host}/${image}`)
      : await broken(cut, shape.layers * shape.layerBytes, tool, from, destination.host);
  // A registry writes its log after its answer.
  await sleep(logMs);
  return { ...cost, requests: source.requests() + destination.requests() - before };
}

/** Runs the tool through a relay, breaks off what `cut` says when half of `bytes` has been sent, and runs it again until it succeeds. */
async function broken(
  cut: 'connections' | 'process',
  bytes: number,
  tool: Tool,
  from: string,
  destination: string,
): Promise<Pick<Measured, 'seconds' | 'resent'>> {
  const relay = await startRelay(destination);
  try {
    const kill = new AbortController();
    relay.at(bytes / 2, () => (cut === 'connections' ? relay.cut() : kill.abort()));
    const begun = performance.now();
    for (let run = 1; ; run += 1) {
      const failed = await tool(from, `${relay.host}/${repository}:1`, kill.signal).then(
        () => undefined,
        (caught: unknown) => caught ?? new Error('it failed'),
      );
      const seconds = (performance.now() - begun) / 1000;
      if (failed === undefined) return { seconds, resent: (relay.sent() - bytes) / mebibyte };
      if (run >= mostRuns) throw failed;
    }
  } finally {
    await relay.close();
  }
}
