import { useSyncExternalStore } from 'react';

/** Whether the shown data is current. `stale`: the page is connected to its server, which cannot reach the cluster. */
export interface Connection {
  state: 'connecting' | 'live' | 'reconnecting' | 'stale';
  sinceMs: number;
  /** While `live`: what the viewer may not read, which is missing. */
  problem: string;
}

let current: Connection = { state: 'connecting', sinceMs: Date.now(), problem: '' };
const listeners = new Set<() => void>();

/** Records the state; the start time of an unchanged state is kept. */
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
