import { useSyncExternalStore } from 'react';

/** Whether what is shown is what is. `stale`: the page is connected to its server, which cannot read the cluster. */
export interface Connection {
  state: 'connecting' | 'live' | 'reconnecting' | 'stale';
  sinceMs: number;
  problem: string;
}

let current: Connection = { state: 'connecting', sinceMs: Date.now(), problem: '' };
const listeners = new Set<() => void>();

/** The time since when a state lasts stays while it lasts. */
export function noteConnection(state: Connection['state'], problem = ''): void {
  if (state === current.state && problem === current.problem) return;
  const sinceMs = state === current.state ? current.sinceMs : Date.now();
  current = { state, sinceMs, problem };
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useConnection(): Connection {
  return useSyncExternalStore(subscribe, () => current);
}
