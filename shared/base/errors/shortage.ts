/** Resources that a process or its machine may lack for a while, by error code. */
const shortages: Readonly<Record<string, string>> = {
  EMFILE: 'this process has too many open files and connections: raise its limit (ulimit -n)',
  ENFILE: 'the machine has too many open files: raise its limit (fs.file-max)',
  ENOMEM: 'the machine is out of memory',
  // For a process or thread to start; a socket without data never reports EAGAIN here.
  EAGAIN: 'the machine cannot start another process or thread: raise its limits (ulimit -u, pids.max)',
  ENOBUFS: 'the machine has no buffers left for network connections',
  EADDRNOTAVAIL: 'the machine has no port left for another connection',
  ENOSPC: 'a disk of the machine is full',
  EDQUOT: 'a disk of the machine is full for this account',
};

/** Levels of causes examined. */
const maxDepth = 10;

/**
 * Returns what this process or its machine ran out of, if that is the error or one of its causes; undefined for every other error. Transient:
 * the same operation may succeed later.
 */
export function shortageIn(caught: unknown, depth = 0): string | undefined {
  if (!(caught instanceof Error) || depth > maxDepth) return undefined;
  const own = 'code' in caught ? shortages[String(caught.code)] : undefined;
  if (own !== undefined) return own;
  // A connection that was tried at several addresses.
  const several: unknown[] = caught instanceof AggregateError ? caught.errors : [];
  return [caught.cause, ...several]
    .map((cause) => shortageIn(cause, depth + 1))
    .find((found) => found !== undefined);
}
