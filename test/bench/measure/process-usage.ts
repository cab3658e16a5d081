import { readFile } from 'node:fs/promises';

/** What a process and its children, those that have ended and those that run, have used so far. */
export interface Usage {
  cpuSeconds: number;
  /** The resident set of the process itself, now and at its largest. */
  mebibytes: number;
  peakMebibytes: number;
}

const ticksPerSecond = 100; // USER_HZ, fixed on Linux

/** Read from /proc, so Linux only. */
export async function usageOf(pid: number): Promise<Usage> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const mebibytes = (field: string) =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? '0') / 1024;
  return {
    cpuSeconds: (await ticksOf(pid)) / ticksPerSecond,
    mebibytes: mebibytes('VmRSS'),
    peakMebibytes: mebibytes('VmHWM'),
  };
}

async function ticksOf(pid: number): Promise<number> {
  const [stat, children] = await Promise.all([
    readFile(`/proc/${pid}/stat`, 'utf8'),
    readFile(`/proc/${pid}/task/${pid}/children`, 'utf8'),
  ]);
  // After the command name (which may hold spaces): field 14 to 17 of proc(5), user and system, own and those of children that were waited for.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const own = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  // One that ends meanwhile is counted with its parent the next time.
  const running = children
    .split(' ')
    .flatMap((child) => (child === '' ? [] : [ticksOf(Number(child)).catch(() => 0)]));
  return (await Promise.all(running)).reduce((sum, ticks) => sum + ticks, own);
}
