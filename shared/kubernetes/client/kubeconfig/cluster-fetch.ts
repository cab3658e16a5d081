import { type Fetch, nodeFetch } from '../transport/node-fetch.ts';
import type { Signed } from './signer.ts';

export interface ClusterFetchOptions {
  /** ms that a new connection may take. */
  connectLimitMs: number;
  /** Asked before every request. */
  sign(): Promise<Signed>;
  /** Called when the server answers 401. */
  refused(): void;
}

/** A fetch that signs in as the user of a context says. */
export function clusterFetch({ connectLimitMs, sign, refused }: ClusterFetchOptions): Fetch {
  return async (url, init) => {
    const { headers, agent } = await unlessAborted(sign(), init.signal);
    const signed = { ...init, headers: { ...init.headers, ...headers } };
    const answer = await nodeFetch(connectLimitMs, agent)(url, signed);
    if (answer.status === 401) refused();
    return answer;
  };
}

/** Credentials are shared by requests; one that is aborted no longer waits for them. */
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
