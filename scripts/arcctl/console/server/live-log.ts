import type { Context } from 'hono';
import { type SSEStreamingApi, streamSSE } from 'hono/streaming';
import { createSemaphore, pause } from '#shared/base/async';
import { ArcError, printable } from '#shared/base/errors';
import type { Key } from '#shared/kubernetes/client';
import { logLines } from '../../core/log-stream.ts';
import type { Cluster } from '../../core/session.ts';
import { followRuns } from '../../model/follow-runs.ts';
import { readOrder } from '../../model/read-tree.ts';
import type { LogLine } from '../api.ts';

/** Each log stream has its own watches and connections, so their number is limited. */
const mostReaders = 5;
/** Maximum number of pods read concurrently. The others wait until one has ended. */
const mostPods = 20;
/** Buffer of a reader, larger than the history of a page. */
const mostLines = 1000;
const longestLine = 2000;
const batchMs = 250;
const quietMs = 15_000;

interface LogOptions {
  cluster: Pick<Cluster, 'api' | 'transport'>;
  signal: AbortSignal;
}

/**
 * Streams the logs of an Order's workers as server-sent events named `lines`, each a JSON array of LogLine, until the client disconnects;
 * includes later retries. A slow client misses lines and gets the number of dropped lines. `refused` ends the stream.
 */
export function createLiveLog({ cluster, signal }: LogOptions) {
  let readers = 0;
  return (c: Context, key: Required<Key>): Response => {
    // A HEAD request would leave the stream unread.
    if (c.req.method === 'HEAD') return c.body(null, 405);
    if (readers >= mostReaders || signal.aborted)
      return c.json({ code: 'TooManyRequests', message: 'Too many open logs: close some.' }, 503);
    readers += 1;
    const ending = new AbortController();
    const end = () => ending.abort();
    signal.addEventListener('abort', end, { once: true });
    const done = () => {
      end();
      signal.removeEventListener('abort', end);
      readers -= 1;
    };
    return streamSSE(
      c,
      async (stream) => {
        stream.onAbort(end);
        const lines = createLines();
        const sent = send(stream, lines, ending.signal);
        try {
          await readAll(cluster, key, lines.add, ending.signal);
        } catch (caught) {
          const data = printable(ArcError.from(caught).message);
          if (!ending.signal.aborted) await stream.writeSSE({ event: 'refused', data });
        } finally {
          done();
          await sent;
        }
      },
      // On an error the stream just ends: the browser reconnects.
      async () => {},
    );
  };
}

async function send(stream: SSEStreamingApi, lines: Lines, signal: AbortSignal): Promise<void> {
  let saidMs = performance.now();
  while (!signal.aborted) {
    const some = lines.take();
    const isQuiet = some.length === 0 && performance.now() - saidMs < quietMs;
    if (!isQuiet) saidMs = performance.now();
    if (some.length > 0) await stream.writeSSE({ event: 'lines', data: JSON.stringify(some) });
    else if (!isQuiet) await stream.write(': nothing new\n\n');
    await pause(batchMs, signal);
  }
}

async function readAll(
  { api, transport }: LogOptions['cluster'],
  key: Required<Key>,
  add: Lines['add'],
  signal: AbortSignal,
): Promise<void> {
  const order = await readOrder(api, key, signal);
  const { namespace } = key;
  const slots = createSemaphore(mostPods);
  const options = { follow: true, container: 'main', tailLines: 100 };
  await followRuns({ api, namespace }, order, {
    onPod({ artifact, pod }) {
      const copy = async () => {
        for await (const line of logLines({ transport, namespace }, pod, options, signal))
          add(artifact, line);
      };
      slots.run(copy, signal).catch((caught: unknown) => {
        if (!signal.aborted) add(artifact, `no log: ${ArcError.from(caught).message}`);
      });
    },
    isOver: (current) => !current,
    note: (text) => add('', text),
    signal,
  });
}

/** The buffer of lines for a page: the newest lines, and the number of dropped ones. */
interface Lines {
  add(artifact: string, text: string): void;
  take(): LogLine[];
}

export function createLines(): Lines {
  let waiting: LogLine[] = [];
  let missed = 0;
  return {
    add(artifact, text) {
      waiting.push({ artifact, text: printable(text.slice(0, longestLine)) });
      if (waiting.length < 2 * mostLines) return;
      missed += mostLines;
      waiting = waiting.slice(mostLines);
    },
    take() {
      const lead = missed > 0 ? [{ artifact: '', text: `... ${missed} lines skipped` }] : [];
      const lines = [...lead, ...waiting];
      [waiting, missed] = [[], 0];
      return lines;
    },
  };
}
