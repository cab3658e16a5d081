import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { pause } from '#shared/base/async';

/** A process as it can be found again: the start time tells it from a later one with the same id. */
export interface ProcessMark {
  pid: number;
  startTime: string;
}

const run = promisify(execFile);
const pollMs = 50;

/** When a process started, in whatever unit the system counts; undefined when there is none with this id. */
export async function startTimeOf(pid: number): Promise<string | undefined> {
  const stat = await statOf(pid);
  if (stat !== undefined) return stat[19];
  if (process.platform === 'linux') return undefined;
  // Systems without /proc; ps fails when there is no such process.
  return run('ps', ['-o', 'lstart=', '-p', String(pid)]).then(
    ({ stdout }) => stdout.trim() || undefined,
    () => undefined,
  );
}

/** The fields of /proc/<pid>/stat from the third (state) on: [1] parent, [2] process group, [19] start time. */
async function statOf(pid: number): Promise<string[] | undefined> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  // The second field is the name in parentheses and may hold anything.
  const fields = text?.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields?.[0] === 'Z' ? undefined : fields;
}

/** Sends a signal to a process group; false when the group is empty. */
export function signalGroup(pid: number, name: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, name);
    return true;
  } catch (caught) {
    const { code } = caught as NodeJS.ErrnoException;
    if (code === 'ESRCH') return false;
    // Nobody left but a zombie that is not ours to reap, as macOS answers.
    if (code === 'EPERM') return false;
    throw caught;
  }
}

/**
 * Ends what is left of a process group that a former executor started, TERM first, KILL after `graceMs`, and waits for its
 * end. `marker` (NAME=value) must stand in the environment of members whose leader is gone: a group of somebody else that
 * was given the same id is left alone.
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
