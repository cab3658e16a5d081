/** What a process or its machine may lack for a while, by the code of the error that says so. */
const shortages: Readonly<Record<string, string>> = {
  EMFILE: 'this process has too many open files and connections: raise its limit (ulimit -n)',
  ENFILE: 'the machine has too many open files: raise its limit (fs.file-max)',
  ENOMEM: 'the machine is out of memory',
  // Of a process or thread to start; a socket that has nothing to read never gets this far.
  EAGAIN: 'the machine cannot start another process or thread: raise its limits (ulimit -u, pids.max)',
  ENOBUFS: 'the machine has no buffers left for network connections',
  EADDRNOTAVAIL: 'the machine has no port left for another connection',
  ENOSPC: 'a disk of the machine is full',
  EDQUOT: 'a disk of the machine is full for this account',
};

/** Causes of causes that are looked at. */
const maxDepth = 10;

/**
 * Returns what this process or its machine ran out of, if that is the error or a cause of it; undefined for every other error. It passes:
 * the operation may succeed later unchanged.
 */
export function shortageIn(caught: unknown, depth = 0): string | undefined {
  if (!(caught instanceof Error) || depth > maxDepth) return undefined;
  const own = 'code' in caught ? shortages[String(caught.code)] : undefined;
  if (own !== undefined) return own;
  // Of a connection that was tried at several addresses.
  const several: unknown[] = caught instanceof AggregateError ? caught.errors : [];
  return [caught.cause, ...several]
    .map((cause) => shortageIn(cause, depth + 1))
    .find((found) => found !== undefined);
}
