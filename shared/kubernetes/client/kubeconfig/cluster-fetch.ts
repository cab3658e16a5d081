import { type Fetch, nodeFetch } from '../transport/node-fetch.ts';
import type { Signed } from './signer.ts';

export interface ClusterFetchOptions {
  /** Connect timeout in milliseconds. */
  connectLimitMs: number;
  /** Called before every request. */
  sign(): Promise<Signed>;
  /** Called when the server responds with 401. */
  onUnauthorized(): void;
}

/** Creates a fetch with the credentials of a context's user. */
export function clusterFetch({ connectLimitMs, sign, onUnauthorized }: ClusterFetchOptions): Fetch {
  return async (url, init) => {
    const { headers, agent } = await unlessAborted(sign(), init.signal);
    const signed = { ...init, headers: { ...init.headers, ...headers } };
    const answer = await nodeFetch(connectLimitMs, agent)(url, signed);
    if (answer.status === 401) onUnauthorized();
    return answer;
  };
}

/** Settles like `work`, or rejects when `signal` is aborted. Does not abort `work`, which other requests share. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
