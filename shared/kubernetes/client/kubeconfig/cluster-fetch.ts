import { type Fetch, nodeFetch } from '../transport/node-fetch.ts';
import type { Signed } from './signer.ts';

export interface ClusterFetchOptions {
  /** Connect timeout, ms. */
  connectLimitMs: number;
  /** Called before every request. */
  sign(): Promise<Signed>;
  /** Called when the server answers 401. */
  refused(): void;
}

/** Creates a fetch with the credentials of a context's user. */
export function clusterFetch({ connectLimitMs, sign, refused }: ClusterFetchOptions): Fetch {
  return async (url, init) => {
    const { headers, agent } = await unlessAborted(sign(), init.signal);
    const signed = { ...init, headers: { ...init.headers, ...headers } };
    const answer = await nodeFetch(connectLimitMs, agent)(url, signed);
    if (answer.status === 401) refused();
    return answer;
  };
}

/** Settles like `work`, or rejects when `signal` is aborted: the credentials are shared with other requests. */
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
