import type { IncomingHttpHeaders } from 'node:http';
import type { FileInfo, OpenFile } from '../content/file.ts';
import { byteCount } from '../http/body.ts';
import type { ServerResponse } from './file-server.ts';

/** What the headers of a whole or partial response tell of the file. */
export function infoOf(headers: IncomingHttpHeaders): FileInfo {
  const range = headers['content-range'];
  const size = byteCount(range === undefined ? headers['content-length'] : /\/(\d+)$/.exec(range)?.[1]);
  const { etag, 'content-type': mediaType } = headers;
  return {
    ...(size === undefined ? {} : { size }),
    // A weak one (W/) says only that the file means the same.
    ...(etag?.startsWith('"') ? { validator: etag } : {}),
    ...(mediaType === undefined ? {} : { mediaType }),
  };
}

/** The file of a 200 or 206, of which the headers tell `info`. */
export function openedOf({ status, headers, stream }: ServerResponse, info: FileInfo): OpenFile {
  const start = status === 206 ? byteCount(/^bytes (\d+)-/.exec(headers['content-range'] ?? '')?.[1]) : 0;
  const bounded = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  // A partial response that does not say which part it is cannot be used: start behind any offset.
  return { start: start ?? Number.MAX_SAFE_INTEGER, info, stream, bounded };
}
