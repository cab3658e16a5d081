import type { IncomingHttpHeaders } from 'node:http';
import type { FileInfo, FileSource } from '../content/file.ts';
import type { FileServer } from './file-server.ts';
import { infoOf, openedOf } from './response-info.ts';

/** Statuses of servers that support GET but not HEAD, or not for everybody; a GET says what is wrong. */
const noHead = [400, 403, 404, 405, 410, 501];

/** How a kind of server is asked for files. */
export interface Dialect {
  /** Sent with each request. */
  headers: Readonly<Record<string, string>>;
  /** Carries the version that a part must be of. `if-match` is answered with 412, `if-range` with the whole. */
  guard: 'if-range' | 'if-match';
  infoOf: (headers: IncomingHttpHeaders) => FileInfo;
}

// Compressed on its way, a file would have neither size nor ranges.
const http: Dialect = { headers: { 'accept-encoding': 'identity' }, guard: 'if-range', infoOf };

/** A file of an HTTP server. `label` is its name in messages; `url` holds no credentials. */
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

    async open(offset, validator, signal) {
      const range = offset > 0 ? { range: `bytes=${offset}-` } : {};
      const version = offset > 0 && validator !== undefined ? { [guard]: validator } : {};
      const response = await send(
        {
          method: 'GET',
          url,
          headers: { ...common, ...range, ...version },
          expect: offset > 0 ? [200, 206, 412, 416] : [200],
          streamed: true,
          activity: `reading ${label}`,
        },
        signal,
      );
      if (response.status !== 412 && response.status !== 416)
        return openedOf(response, dialect.infoOf(response.headers));
      // The range or the version is not there: the whole shows the file as it is.
      response.stream.destroy();
      return this.open(0, undefined, signal);
    },
  };
}
