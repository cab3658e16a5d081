import { existsSync, readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { ArcError } from '#shared/base/errors';
import { metaKey } from './layout.ts';
import { deepest } from './lmdb-file/check-pages.ts';
import { PageError } from './lmdb-file/page.ts';
import type { PageFile } from './lmdb-file/page-file.ts';

/** Under it earlier versions, which do not know the lock, wrote which process had the folder. */
export const ownerKey = metaKey('owner');

/** Reads of a file that its owner writes meanwhile may fail. */
const attempts = 5;

/**
 * Throws ArcError `Conflict` if the value of `ownerKey` names a process that still runs. A process of another pid namespace cannot be seen:
 * whoever runs an earlier version in a container has to end it.
 */
export function refuseRunningOwner(stored: Buffer | undefined): void {
  const [, pid, started, at] =
    /^\{"pid":(\d+)(?:,"started":"(\d+)")?,"at":(\d+)\}$/.exec(stored?.toString() ?? '') ?? [];
  if (pid === undefined || !isRunning({ pid: Number(pid), started, at: Number(at) })) return;
  const message = `the store is in use by process ${pid}, of an earlier version: stop it first, or choose another folder`;
  throw new ArcError('Conflict', message);
}

/** Returns the value of `ownerKey` without LMDB, which might die of a damaged file; undefined: there is none, or it cannot be read. */
export function readEarlierOwner(file: PageFile): Buffer | undefined {
  for (let attempt = 1; attempt <= attempts; attempt += 1) {
    try {
      return search(file);
    } catch (caught) {
      if (!(caught instanceof PageError)) throw caught;
    }
  }
  return undefined;
}

function search(file: PageFile): Buffer | undefined {
  const { main, transaction } = file.newest();
  let next = main.root;
  for (let depth = 1; next !== undefined && depth <= deepest; depth += 1) {
    const page = file.page(next, transaction);
    if (page.kind === 'leaf') {
      const value = page.entries.find(({ key }) => key.equals(ownerKey))?.value;
      return Buffer.isBuffer(value) ? value : undefined;
    }
    next = page.children.findLast(({ key }, at) => at === 0 || Buffer.compare(key, ownerKey) <= 0)?.page;
  }
  return undefined;
}

interface Owner {
  pid: number;
  /** When the process started, in clock ticks since boot; undefined where /proc does not tell. */
  started: string | undefined;
  /** When this was written (ms since 1970). */
  at: number;
}

/** False once the process has ended; where that is not known, true. */
function isRunning({ pid, started, at }: Owner): boolean {
  // Ten seconds of grace, for a clock that was set while the machine ran.
  if (at < Date.now() - uptime() * 1000 - 10_000) return false;
  if (!existsSync('/proc/self/stat')) return answersSignals(pid);
  const stat = procStat(pid);
  if (!stat || stat.state === 'Z' || stat.state === 'X') return false;
  return started === undefined || started === stat.started;
}

/** State and start time of a process by proc_pid_stat(5); undefined if there is none. */
function procStat(pid: number): { state: string | undefined; started: string | undefined } | undefined {
  try {
    // The second field is the command in parentheses and may hold spaces and parentheses itself.
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { state: fields[0], started: fields[19] };
  } catch {
    return undefined;
  }
}

function answersSignals(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (caught) {
    // EPERM: it runs, as another user.
    return !(caught instanceof Error && 'code' in caught && caught.code === 'ESRCH');
  }
}
