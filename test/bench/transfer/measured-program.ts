import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { usageOf } from '../measure/process-usage.ts';

export interface Cost {
  seconds: number;
  cpuSeconds: number;
  peakMebibytes: number;
}

/** Moves an image from `from` to `to`, both `host/path:tag`. Aborted: it is killed, and rejects. */
export type Tool = (from: string, to: string, signal?: AbortSignal) => Promise<Cost>;

const ticksPerSecond = 100; // USER_HZ, fixed on Linux
const sampleMs = 10;

/** Runs a program to its end. Throws with what it printed if it fails. Only one may run at a time: CPU is that of all ended children. */
export async function measure(
  command: readonly string[],
  { env = {}, signal }: { env?: Readonly<Record<string, string>>; signal?: AbortSignal } = {},
): Promise<Cost> {
  const [program = '', ...args] = command;
  const cpuBefore = await childrenSeconds();
  const begun = performance.now();
  const child = spawn(program, args, { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  signal?.addEventListener('abort', () => child.kill('SIGKILL'), { once: true });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-2000);
    });
  const closed = once(child, 'close');
  let peakMebibytes = 0;
  while (child.exitCode === null && child.signalCode === null) {
    // Gone between two looks: the last one counts.
    const usage = await usageOf(child.pid ?? 0).catch(() => undefined);
    peakMebibytes = Math.max(peakMebibytes, usage?.peakMebibytes ?? 0);
    await Promise.race([closed, sleep(sampleMs)]);
  }
  const seconds = (performance.now() - begun) / 1000;
  await closed;
  if (child.exitCode !== 0) throw new Error(`${command.join(' ')} failed: ${said}`);
  return { seconds, cpuSeconds: (await childrenSeconds()) - cpuBefore, peakMebibytes };
}

/** User and system time of the children that have ended: fields 16 and 17 of proc(5). */
async function childrenSeconds(): Promise<number> {
  const stat = await readFile('/proc/self/stat', 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / ticksPerSecond;
}
