import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A broker that takes every event. */
export interface CountingSink {
  url: string;
  /** Events so far. */
  readonly count: number;
  /** When an event of each object that is in `watched` last came (performance.now()), by its name. */
  readonly arrived: Map<string, number>;
  close(): void;
}

export async function startSink(): Promise<CountingSink> {
  const arrived = new Map<string, number>();
  let count = 0;
  const server = createServer((request, response) => {
    count += 1;
    // The subject of an event is <namespace>/<name> or longer; a name is unique here.
    const subject = String(request.headers['ce-subject'] ?? '');
    arrived.set(subject.split('/').at(-1) ?? '', performance.now());
    request.resume().on('end', () => {
      response.statusCode = 202;
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get count() {
      return count;
    },
    arrived,
    close: () => server.close(),
  };
}
