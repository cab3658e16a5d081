import type { FileSource } from './file.ts';
import type { FileServer } from './file-server.ts';
import { infoOf, openedOf } from './response-info.ts';

/** Statuses of servers that support GET but not HEAD, or not for everybody; a GET says what is wrong. */
const noHead = [400, 403, 404, 405, 410, 501];

/** A file of an HTTP server. `label` is its name in messages; `url` holds no credentials. */
export function webFile(send: FileServer, url: URL, label: string): FileSource {
  // Compressed on its way, a file would have neither size nor ranges.
  const identity = { 'accept-encoding': 'identity' };
  return {
    label,
    url: url.href,

    async stat(signal) {
      const request = { method: 'HEAD', url, headers: identity, activity: `looking for ${label}` } as const;
      const { status, headers } = await send({ ...request, expect: [200, 204, ...noHead] }, signal);
      return status < 300 ? infoOf(headers) : {};
    },

    async open(offset, validator, signal) {
      const range = offset > 0 ? { range: `bytes=${offset}-` } : {};
      const guard = offset > 0 && validator !== undefined ? { 'if-range': validator } : {};
      const response = await send(
        {
          method: 'GET',
          url,
          headers: { ...identity, ...range, ...guard },
          expect: offset > 0 ? [200, 206, 416] : [200],
          streamed: true,
          activity: `reading ${label}`,
        },
        signal,
      );
      if (response.status !== 416) return openedOf(response);
      // The range is not there: the whole shows the file's size, or that ranges are not supported.
      response.stream.destroy();
      return this.open(0, undefined, signal);
    },
  };
}
