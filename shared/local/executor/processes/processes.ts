import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { pause } from '#shared/base/async';

/** Identifies a process: its start time tells it from a later process with the same id. */
export interface ProcessMark {
  pid: number;
  startTime: string;
}

const run = promisify(execFile);
const pollMs = 50;

/** Returns the start time of a process, in the system's unit; undefined if no process has this id. */
export async function startTimeOf(pid: number): Promise<string | undefined> {
  const stat = await statOf(pid);
  if (stat !== undefined) return stat[19];
  if (process.platform === 'linux') return undefined;
  // Without /proc; ps fails if there is no such process.
  return run('ps', ['-o', 'lstart=', '-p', String(pid)]).then(
    ({ stdout }) => stdout.trim() || undefined,
    () => undefined,
  );
}

/** Returns the fields of /proc/<pid>/stat from the third (state) on: [1] parent, [2] process group, [19] start time. */
async function statOf(pid: number): Promise<string[] | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // The second field is the name in parentheses and may contain anything.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields?.[0] === 'Z' ? undefined : fields;
}

/** Sends a signal to a process group; false if the group is empty. */
export function signalGroup(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, name);
    return true;
  } catch (caught) {
    const { code } = caught as NodeJS.ErrnoException;
    if (code === 'ESRCH') return false;
    // Only a zombie that is not ours to reap is left, as macOS reports.
    if (code === 'EPERM') return false;
    throw caught;
  }
}

/**
 * Ends the rest of a process group that an earlier executor started, with TERM, then KILL after `graceMs`, and waits for its
 * end. `marker` (NAME=value) must be in the environment of members whose leader is gone: a foreign group that reuses the id is
 * left alone.
 */
export async function endSurvivors(mark: ProcessMark, marker: string, graceMs: number): Promise<boolean> {
  const ours = async () =>
    (await startTimeOf(mark.pid)) === mark.startTime || (await groupHas(mark.pid, marker));
  if (!(await ours())) return false;
  signalGroup(mark.pid, 'SIGTERM');
  const killAt = performance.now() + graceMs;
  let killed = false;
  while (await ours()) {
    if (!killed && performance.now() >= killAt) killed = signalGroup(mark.pid, 'SIGKILL');
    await pause(pollMs, new AbortController().signal);
  }
  return true;
}

async function groupHas(group: number, marker: string): Promise<boolean> {
  const entries = await readdir('/proc').catch(() => [] as string[]);
  for (const entry of entries) {
    if (!/^\d+$/.test(entry)) continue;
    const stat = await statOf(Number(entry));
    if (stat?.[2] !== String(group)) continue;
    // Unreadable: the process belongs to another user.
    const environment = await readFile(`/proc/${entry}/environ`, 'utf8').catch(() => '');
    if (environment.split('\0').includes(marker)) return true;
  }
  return false;
}
