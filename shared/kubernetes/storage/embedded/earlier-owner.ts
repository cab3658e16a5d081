import { existsSync, readFileSync } from 'node:fs';
import { uptime } from 'node:os';
import { ArcError } from '#shared/base/errors';
import { metaKey } from './layout.ts';
import { maxDepth } from './lmdb-file/check-pages.ts';
import { PageError } from './lmdb-file/page.ts';
import type { PageFile } from './lmdb-file/page-file.ts';

/** The key in which earlier versions, which do not use the lock, stored the owner process of the folder. */
export const ownerKey = metaKey('owner');

/** Reads may fail while the owner writes to the file. */
const attempts = 5;

/**
 * Throws ArcError `Conflict` if the process in the value of `ownerKey` is running. Does not detect processes in other PID namespaces: an
 * earlier version in a container must be stopped by its user.
 */
export function refuseRunningOwner(stored: Buffer | undefined): void {
  const [, pid, started, at] =
    /^\{"pid":(\d+)(?:,"started":"(\d+)")?,"at":(\d+)\}$/.exec(stored?.toString() ?? '') ?? [];
  if (pid === undefined || !isRunning({ pid: Number(pid), started, at: Number(at) })) return;
  const message = `the store is in use by process ${pid}, of an earlier version: stop it first, or choose another folder`;
  throw new ArcError('Conflict', message);
}

/** Returns the value of `ownerKey` without LMDB, which may crash on a damaged file; undefined if it is missing or unreadable. */
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
  for (let depth = 1; next !== undefined && depth <= maxDepth; depth += 1) {
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
  /** Start time of the process in clock ticks since boot; undefined without /proc. */
  started: string | undefined;
  /** Unix time of the entry in milliseconds. */
  at: number;
}

/** Tells whether the process is running; true if unknown. */
function isRunning({ pid, started, at }: Owner): boolean {
  // Ten seconds of tolerance for clock adjustments.
  if (at < Date.now() - uptime() * 1000 - 10_000) return false;
  if (!existsSync('/proc/self/stat')) return answersSignals(pid);
  const stat = procStat(pid);
  if (!stat || stat.state === 'Z' || stat.state === 'X') return false;
  return started === undefined || started === stat.started;
}

/** Returns state and start time of a process, proc_pid_stat(5); undefined if it does not exist. */
function procStat(pid: number): { state: string | undefined; started: string | undefined } | undefined {
  try {
    // The second field is the command in parentheses, which may contain spaces and parentheses.
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
    // EPERM: the process runs as another user.
    return !(caught instanceof Error && 'code' in caught && caught.code === 'ESRCH');
  }
}
