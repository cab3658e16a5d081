import type { IncomingHttpHeaders } from 'node:http';
import type { FileInfo, FileSource } from '../content/file.ts';
import type { FileServer } from './file-server.ts';
import { infoOf, openedOf } from './response-info.ts';

/** Statuses of servers that do not support HEAD, or not for everybody; a GET then shows the actual problem. */
const noHead = [400, 403, 404, 405, 410, 501];

/** How requests differ between kinds of file servers. */
export interface Dialect {
  /** Sent with each request. */
  headers: Readonly<Record<string, string>>;
  /** The header with the required version of a range. `if-match` fails with 412, `if-range` returns the whole file. */
  guard: 'if-range' | 'if-match';
  infoOf: (headers: IncomingHttpHeaders) => FileInfo;
}

// A compressed response would have neither size nor ranges.
const http: Dialect = { headers: { 'accept-encoding': 'identity' }, guard: 'if-range', infoOf };

/** Returns a file of an HTTP server. `label` is its name in messages; `url` contains no credentials. */
export function webFile(send: FileServer, url: URL, label: string, dialect = http): FileSource {
  const { headers: common, guard } = dialect;
  return {
    label,
    url: url.href,

    async stat(signal) {
      const request = { method: 'HEAD', url, headers: common, activity: `looking for ${label}` } as const;
      const { status, headers } = await send({ ...request, expect: [200, 204, ...noHead] }, signal);
      return status < 300 ? dialect.infoOf(headers) : {};
    },

    async open(offset, validator, signal, reusesBuffers = false) {
      const range = offset > 0 ? { range: `bytes=${offset}-` } : {};
      const version = offset > 0 && validator !== undefined ? { [guard]: validator } : {};
      const response = await send(
        {
          method: 'GET',
          url,
          headers: { ...common, ...range, ...version },
          expect: offset > 0 ? [200, 206, 412, 416] : [200],
          streamed: true,
          reusesBuffers,
          activity: `reading ${label}`,
        },
        signal,
      );
      if (response.status !== 412 && response.status !== 416)
        return openedOf(response, dialect.infoOf(response.headers));
      // The range or the version does not exist: a request from the beginning shows the current file.
      response.stream.destroy();
      return this.open(0, undefined, signal, reusesBuffers);
    },
  };
}
