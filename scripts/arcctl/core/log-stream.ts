import { startDeadline } from '#shared/base/async';
import { objectPath, query } from '#shared/kubernetes/client';
import { shownPods } from './pod.ts';
import type { Cluster } from './session.ts';

export interface LogOptions {
  follow: boolean;
  container: string;
  tailLines?: number;
}

/** Longer log lines are split. */
const longestLine = 64 * 1024;

/**
 * Yields the lines of a pod's log; with `follow`, as they are written. Rejects with the error of the API. `opened` is called when the response
 * has started, before the first line.
 */
export async function* logLines(
  { transport, namespace }: Pick<Cluster, 'transport' | 'namespace'>,
  pod: string,
  options: LogOptions,
  signal: AbortSignal,
  opened?: () => void,
): AsyncGenerator<string> {
  const path = `${objectPath(shownPods, { namespace, name: pod }, 'log')}${query({ ...options })}`;
  const request = { method: 'GET', path, accept: 'text/plain, application/json' } as const;
  const deadline = startDeadline(transport.deadlineMs, `GET the log of pod ${pod}`, signal);
  try {
    const answer = await transport.open(request, deadline);
    opened?.();
    // A followed log may be silent for a long time.
    if (options.follow) deadline.restart(Number.POSITIVE_INFINITY);
    yield* splitLines(answer.body ?? [], longestLine);
  } catch (caught) {
    if (!signal.aborted) throw transport.failure(caught, request, deadline);
  } finally {
    deadline.end();
  }
}

/** Splits text at line breaks, and lines after `limit` characters. Invalid UTF-8 becomes U+FFFD. */
export async function* splitLines(chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, limit: number) {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) yield line.replace(/\r$/, '');
    while (rest.length > limit) {
      yield rest.slice(0, limit);
      rest = rest.slice(limit);
    }
  }
  const last = rest + decoder.decode();
  if (last !== '') yield last;
}
