import { setTimeout as pause } from 'node:timers/promises';

/** Number of active resources by kind, such as sockets, timers and file operations. */
export type OpenResources = ReadonlyMap<string, number>;

const maxWaitMs = 100;

export function openResources(): OpenResources {
  const open = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) open.set(kind, (open.get(kind) ?? 0) + 1);
  return open;
}

/** True if no more resources are open than `before`, within a short wait: a closed connection takes a turn or two to disappear. */
export async function isQuiet(before: OpenResources): Promise<boolean> {
  const until = performance.now() + maxWaitMs;
  for (;;) {
    if ([...openResources()].every(([kind, count]) => count <= (before.get(kind) ?? 0))) return true;
    if (performance.now() > until) return false;
    // A referenced timer would count itself.
    await pause(1, undefined, { ref: false });
  }
}
