import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { KubeClient } from '#shared/kubernetes/client';
import type { StandaloneOptions } from '../../../scripts/standalone/standalone.ts';
import type { StoreCount } from '../../fixtures/counted-store.ts';
import { connect } from '../../fixtures/standalone/connect.ts';
import type { ExchangeCount } from './exchange-count.ts';
import { type Usage, usageOf } from './process-usage.ts';

export interface MeasuredSettings extends Pick<StandaloneOptions, 'runsWorkflows'> {
  /** The address of an etcd, or what speaks like one, to keep the objects in instead of the embedded store. */
  etcd?: string;
}

/** A standalone under measurement: in a process of its own, so that what it uses is told apart from the client. */
export interface MeasuredStandalone {
  admin: KubeClient;
  server: string;
  token: string;
  usage(): Promise<Usage>;
  counts(): Promise<StoreCount & ExchangeCount>;
  /** When functions last answered an event about each object, ms since the epoch by name. */
  answers(): Promise<Record<string, number>>;
  close(): Promise<void>;
}

const compiled = path.resolve(import.meta.dirname, '../../../node_modules/.cache/compiled');

export async function startMeasured(settings: MeasuredSettings = {}): Promise<MeasuredStandalone> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'arc-bench-'));
  const child = fork(
    path.join(import.meta.dirname, 'standalone-child.ts'),
    [path.join(folder, 'state'), JSON.stringify(settings)],
    // As `npm start` does. Whoever has started it before has the code compiled.
    { env: { ...process.env, NODE_COMPILE_CACHE: compiled } },
  );
  const exited = once(child, 'exit');
  const [message] = (await once(child, 'message', { signal: AbortSignal.timeout(30_000) })) as [
    { ready: string },
  ];
  const ask = async <T>(what: 'counts' | 'answers'): Promise<T> => {
    const answer = once(child, 'message', { signal: AbortSignal.timeout(60_000) });
    child.send(what);
    const [found] = (await answer) as [T];
    return found;
  };
  return {
    ...(await connect(message.ready)),
    usage: () => usageOf(child.pid ?? 0),
    counts: () => ask('counts'),
    answers: () => ask('answers'),
    async close() {
      child.disconnect();
      await exited;
      await rm(folder, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}
