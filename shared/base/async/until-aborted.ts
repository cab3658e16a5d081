/**
 * Settles like `work`, or rejects with the reason of `signal` as soon as that is aborted. The work then continues unobserved: it has a deadline
 * of its own.
 */
export async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: left, reject } = Promise.withResolvers<never>();
  const leave = () => reject(signal.reason);
  if (signal.aborted) leave();
  signal.addEventListener('abort', leave, { once: true });
  try {
    return await Promise.race([left, work]);
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
