import { readFile } from 'node:fs/promises';

/** What a process and the children it has waited for have used so far. */
export interface Usage {
  cpuSeconds: number;
  /** The resident set of the process itself, now and at its largest. */
  mebibytes: number;
  peakMebibytes: number;
}

const ticksPerSecond = 100; // USER_HZ, fixed on Linux

/** Read from /proc, so Linux only. */
export async function usageOf(pid: number): Promise<Usage> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // After the command name (which may hold spaces): field 14 to 17 of proc(5), user and system, own and children's.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const mebibytes = (field: string) =>
    Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1] ?? '0') / 1024;
  return {
    cpuSeconds: ticks / ticksPerSecond,
    mebibytes: mebibytes('VmRSS'),
    peakMebibytes: mebibytes('VmHWM'),
  };
}
