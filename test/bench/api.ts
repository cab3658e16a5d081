import os from 'node:os';
import { type Case, cases, pathOf, type Sample, seed, seeded } from './api-cases.ts';
import { many, namespace, startTargets, type Target, type Targets } from './api-targets.ts';
import { median, progress, report } from './measure/report.ts';
import { benchStays } from './stays.ts';

const rounds = 3;
const listed = 10_000;

/**
 * Our API server and kube-apiserver serving the same kinds from CustomResourceDefinitions, by turns, on this machine.
 * `asked` names cases; none is all. The binaries are in the folder KUBEBUILDER_ASSETS.
 */
export async function benchApi(asked: readonly string[]): Promise<void> {
  if (asked.includes('--stays')) return benchStays(asked.includes('--files'));
  const assets = process.env.KUBEBUILDER_ASSETS;
  if (!assets)
    throw new Error('KUBEBUILDER_ASSETS is not set: it names the folder of etcd and kube-apiserver');
  const isAsked = (name: string) => asked.length === 0 || asked.includes(name);
  tellConditions(assets);
  const targets = await startTargets(assets);
  try {
    const both = [targets.ours, targets.theirs] as const;
    await reportMemory('rssIdle', 0, both);
    for (const target of both) await seed(target, namespace, seeded);
    progress(`${seeded} objects on both sides`);
    for (const one of cases) if (isAsked(one.name)) await compare(one.name, one, both);
    for (const one of casesAgain('Http2', ['get', 'watchFanout'], isAsked))
      await compare(one.name, one, targets.http2, rounds + 1);
    await benchBare(targets, isAsked);
    await benchTwo(targets, isAsked);
    await reportMemory('rss', seeded, both);
    if (isAsked('stall')) await reportStall(targets);
  } finally {
    await targets.stop();
  }
}

/** Requests beside a server that does nothing but parse and print the same bytes. */
async function benchBare({ ours, bare }: Targets, isAsked: (name: string) => boolean): Promise<void> {
  const again = casesAgain('Bare', ['get', 'create'], isAsked);
  if (again.length === 0) return;
  const pair = [ours, await bare(await ours.read(`${pathOf(ours)}/o-0`))] as const;
  for (const one of again) await compare(one.name, one, pair, rounds + 1);
}

/** What a second process of ours on the same etcd adds, as a second replica or a thread would: `theirs` is one alone. */
async function benchTwo({ ours, two }: Targets, isAsked: (name: string) => boolean): Promise<void> {
  const again = casesAgain('Two', ['get', 'create'], isAsked);
  if (again.length === 0) return;
  const pair = [await two(), ours] as const;
  for (const one of again) await compare(one.name, one, pair, 2 * (rounds + 1));
}

function casesAgain(suffix: string, names: readonly string[], isAsked: (name: string) => boolean): Case[] {
  return cases
    .filter(({ name }) => names.includes(name))
    .map((one) => ({ ...one, name: `${one.name}${suffix}` }))
    .filter(({ name }) => isAsked(name));
}

/**
 * `pair` is ours and theirs. The first round of each case is for warming up and not counted.
 * @param firstRound above those of an earlier run of the case, which has made objects named by their round
 */
async function compare(
  name: string,
  one: Case,
  pair: readonly [Target, Target],
  firstRound = 0,
): Promise<void> {
  const samples: [Sample[], Sample[]] = [[], []];
  const { n, unit } = one;
  for (let round = 0; round <= rounds; round++) {
    for (const which of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const told = `${name} ${round}/${rounds} ${pair[which].name}`;
      const sample = await one.run(pair[which], firstRound + round);
      if (!sample) progress(`${told}: gave up`);
      if (!sample) continue;
      if (round > 0) samples[which].push(sample);
      progress(`${told}: ${sample.value.toFixed(1)} ${unit}, ${sample.cpu.toFixed(3)} ms of CPU`);
    }
  }
  const of = (which: 0 | 1, field: keyof Sample) => median(samples[which].map((sample) => sample[field]));
  const values = { ours: of(0, 'value'), theirs: of(1, 'value') };
  report({ bench: 'api', case: name, n, ...values, unit, less: unit === 'ms' });
  const cpu = { ours: of(0, 'cpu'), theirs: of(1, 'cpu') };
  const each = unit === 'events/s' ? 'event' : 'request';
  report({ bench: 'api', case: `${name}Cpu`, n, ...cpu, unit: `ms of CPU/${each}`, less: true });
}

async function reportMemory(name: string, n: number, targets: readonly Target[]): Promise<void> {
  const [ours, theirs] = await Promise.all(targets.map((target) => target.usage()));
  const values = { ours: ours?.mebibytes ?? Number.NaN, theirs: theirs?.mebibytes ?? Number.NaN };
  report({ bench: 'api', case: name, n, ...values, unit: 'MiB', less: true });
}

/** How long our event loop is held up while everything is listed again and again. */
async function reportStall({ ours, stall }: Targets): Promise<void> {
  await seed(ours, many, listed);
  const connection = await ours.open();
  await connection.send('GET', pathOf(ours, many));
  await stall();
  for (let round = 0; round < rounds; round++) await connection.send('GET', pathOf(ours, many));
  const { p99, max } = await stall();
  connection.close();
  for (const [name, value] of Object.entries({ stall: p99, stallMax: max }))
    report({ bench: 'api', case: name, n: listed, ours: value, unit: 'ms', less: true });
}

function tellConditions(assets: string): void {
  const load = os.loadavg().map((value) => value.toFixed(1));
  progress(
    `${os.cpus().length} cores, load ${load.join(' ')}, Node ${process.version}, binaries of ${assets}`,
  );
}
