import { setTimeout as pause } from 'node:timers/promises';

/** How many of each kind keep a process busy: sockets, timers, work on files. */
export type OpenResources = ReadonlyMap<string, number>;

const longestWaitMs = 100;

export function openResources(): OpenResources {
  const open = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) open.set(kind, (open.get(kind) ?? 0) + 1);
  return open;
}

/** Whether no more is open than `before`, or comes to be so in a moment: a connection that is ended takes a turn or two. */
export async function isQuiet(before: OpenResources): Promise<boolean> {
  const until = performance.now() + longestWaitMs;
  for (;;) {
    if ([...openResources()].every(([kind, count]) => count <= (before.get(kind) ?? 0))) return true;
    if (performance.now() > until) return false;
    // A timer that keeps the process alive would count itself.
    await pause(1, undefined, { ref: false });
  }
}
