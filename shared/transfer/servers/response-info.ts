import type { IncomingHttpHeaders } from 'node:http';
import type { FileInfo, OpenFile } from '../content/file.ts';
import { byteCount } from '../http/body.ts';
import type { ServerResponse } from './file-server.ts';

/** Parses the headers of a complete or partial response. */
export function infoOf(headers: IncomingHttpHeaders): FileInfo {
  const range = headers['content-range'];
  const size = byteCount(range === undefined ? headers['content-length'] : /\/(\d+)$/.exec(range)?.[1]);
  const { etag, 'content-type': mediaType } = headers;
  return {
    ...(size === undefined ? {} : { size }),
    // A weak ETag (W/) does not guarantee equal bytes.
    ...(etag?.startsWith('"') ? { validator: etag } : {}),
    ...(mediaType === undefined ? {} : { mediaType }),
  };
}

/** Returns the opened file of a 200 or 206 response. */
export function openedOf({ status, headers, stream }: ServerResponse, info: FileInfo): OpenFile {
  const start = status === 206 ? byteCount(/^bytes (\d+)-/.exec(headers['content-range'] ?? '')?.[1]) : 0;
  const bounded = headers['content-length'] !== undefined || headers['transfer-encoding'] !== undefined;
  // A partial response without a range is unusable; an impossible offset makes the caller retry.
  return { start: start ?? Number.MAX_SAFE_INTEGER, info, stream, bounded };
}
