import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import { bundleKubeconfig, functionSettings } from '../../../scripts/build/bundle.ts';
import { type Usage, usageOf } from '../measure/process-usage.ts';
import type { BridgeState } from './bridge-child.ts';

/** The watch-bridge under measurement, in a process of its own. */
export interface MeasuredBridge {
  state(): Promise<BridgeState>;
  usage(): Promise<Usage>;
  /** Resolves with the seconds from the start of its process until it is ready and no wake waits. */
  caughtUp(): Promise<{ ready: number; caughtUp: number }>;
  stop(): Promise<void>;
}

const longestStartMs = 1_800_000;

/** Bundled in `folder` as in the image; `env` names its API and its sink. */
export async function startBridgeProcess(folder: string, env: NodeJS.ProcessEnv): Promise<MeasuredBridge> {
  const outfile = path.join(folder, 'bridge.mjs');
  const entryPoints = [path.join(import.meta.dirname, 'bridge-child.ts')];
  await Promise.all([build({ ...functionSettings, entryPoints, outfile }), bundleKubeconfig(folder)]);
  const began = performance.now();
  const child = fork(outfile, { env: { ...process.env, ...env } });
  const exited = once(child, 'exit');
  const state = async () => {
    const answer = once(child, 'message', { signal: AbortSignal.timeout(300_000) });
    child.send('state');
    const [found] = (await answer) as [BridgeState];
    return found;
  };
  const until = async (what: string, reached: (state: BridgeState) => boolean) => {
    while (performance.now() - began < longestStartMs) {
      if (child.exitCode !== null) throw new Error(`the bridge ended with ${child.exitCode}`);
      if (reached(await state())) return (performance.now() - began) / 1_000;
      await sleep(200);
    }
    throw new Error(`the bridge was not ${what} in ${longestStartMs / 60_000} minutes`);
  };
  return {
    state,
    usage: () => usageOf(child.pid ?? 0),
    async caughtUp() {
      const ready = await until('ready', (one) => one.ready);
      return { ready, caughtUp: await until('caught up', ({ depth }) => depth === 0) };
    },
    async stop() {
      child.disconnect();
      await exited;
    },
  };
}
