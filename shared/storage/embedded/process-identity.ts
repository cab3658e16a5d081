import { existsSync, readFileSync } from 'node:fs';
import { uptime } from 'node:os';

/** Names one run of one process, so that a number used again by another process is not taken for it. */
export interface ProcessIdentity {
  pid: number;
  /** When the process started, in clock ticks since boot; undefined where /proc does not tell. */
  started: string | undefined;
  /** When this was written down (ms since 1970). */
  at: number;
}

/** The identity of the running process. */
export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, started: procStat(process.pid)?.started, at: Date.now() };
}

/** False once the process has ended; where it cannot be known for sure, true. */
export function isRunning(identity: ProcessIdentity): boolean {
  if (identity.at < bootTime()) return false;
  if (existsSync('/proc/self/stat')) {
    const stat = procStat(identity.pid);
    if (!stat || stat.state === 'Z' || stat.state === 'X') return false;
    return identity.started === undefined || identity.started === stat.started;
  }
  return answersSignals(identity.pid);
}

/** Ten seconds of grace, for a clock that was set while the machine ran. */
function bootTime(): number {
  return Date.now() - uptime() * 1000 - 10_000;
}

/** State and start time of a process by proc_pid_stat(5); undefined if there is none. */
function procStat(pid: number): { state: string | undefined; started: string | undefined } | undefined {
  const path = `/proc/${pid}/stat`;
  try {
    // The second field is the command in parentheses and may hold spaces and parentheses itself.
    const text = readFileSync(path, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0], started: fields[19] };
  } catch (caught) {
    // Without /proc, or when the process is gone: ESRCH is a process that ended while its entry was read.
    if (isErrno(caught, 'ENOENT', 'ESRCH')) return undefined;
    throw caught;
  }
}

function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (caught) {
    // EPERM: it runs, as another user.
    return !isErrno(caught, 'ESRCH');
  }
}

function isErrno(caught: unknown, ...codes: string[]): boolean {
  return caught instanceof Error && 'code' in caught && codes.includes(String(caught.code));
}
