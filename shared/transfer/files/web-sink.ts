import { bytesText } from '#shared/base/errors';
import type { FileIdentity, FileSink, FileSource, FileUpload } from '../content/file.ts';
import { TransferError } from '../errors/transfer-error.ts';
import type { RetryPolicy } from '../http/retry.ts';
import type { FileServer } from '../servers/file-server.ts';
import { infoOf } from '../servers/response-info.ts';
import { webFile } from '../servers/web-file.ts';
import { drain, readFile } from './read-file.ts';

export interface WebSinkOptions {
  send: FileServer;
  url: URL;
  /** For messages, as in `file "a/b" of server host`. */
  label: string;
  retry: RetryPolicy;
  /** True for a WebDAV server: missing folders are created, and the file is renamed once it is complete and verified. */
  dav: boolean;
}

const stored = [200, 201, 204];
const absent = [403, 404, 405, 410, 501];

/** A file on an HTTP server that supports PUT (RFC 9110, 9.3.4), or on a WebDAV server (RFC 4918). Written content is read back and verified. */
export function webSink(options: WebSinkOptions): FileSink {
  const { send, url, label, dav } = options;
  const written = webFile(send, url, label);

  /** Sends the content to `place`. Its digest is verified before the last byte is sent. */
  async function write(place: URL, upload: FileUpload, signal: AbortSignal): Promise<void> {
    await send(
      {
        method: 'PUT',
        url: place,
        headers: { 'content-type': upload.mediaType },
        body: () => upload.content(signal),
        length: upload.size,
        expect: stored,
        writing: true,
        activity: `writing ${label}`,
      },
      signal,
    );
  }

  return {
    label,
    readBack: written,

    async head(signal) {
      const request = { method: 'HEAD', url, activity: `looking for ${label}` } as const;
      const { status, headers } = await send({ ...request, expect: [200, 204, ...absent] }, signal);
      return status < 300 ? infoOf(headers) : undefined;
    },

    async put(upload, signal) {
      if (!dav) {
        await write(url, upload, signal);
        await verify(written, upload.identity(), options.retry, signal);
        return [];
      }
      return putAtomically(options, upload, write, signal);
    },
  };
}

type Put = (place: URL, upload: FileUpload, signal: AbortSignal) => Promise<void>;

/** Writes under a temporary name, verifies, and renames. */
async function putAtomically(
  options: WebSinkOptions,
  upload: FileUpload,
  put: Put,
  signal: AbortSignal,
): Promise<string[]> {
  const { send, url, label, retry } = options;
  const part = new URL(url);
  // One temporary name per file, so that a retry replaces what a killed copy has left.
  part.pathname = url.pathname.replace(/[^/]*$/, '.arc-part-$&');
  const partFile = webFile(send, part, `${label} (under its temporary name)`);
  const remove = () =>
    send(
      {
        method: 'DELETE',
        url: part,
        expect: [200, 202, 204, 404],
        activity: 'removing the temporary file',
        writing: true,
      },
      signal,
    );
  await makeFolders(options, signal);
  try {
    await put(part, upload, signal);
    await verify(partFile, upload.identity(), retry, signal);
    const { status } = await send(
      {
        method: 'MOVE',
        url: part,
        headers: { destination: url.href, overwrite: 'T' },
        expect: [200, 201, 204, 405, 501],
        writing: true,
        activity: `renaming ${label}`,
      },
      signal,
    );
    if (status < 300) return [];
  } catch (caught) {
    // Best effort: the original failure is reported.
    if (!signal.aborted) await remove().catch(() => undefined);
    throw caught;
  }
  await remove();
  await put(url, upload, signal);
  await verify(webFile(send, url, label), upload.identity(), retry, signal);
  return [`server ${url.host} cannot rename files (MOVE), so readers may have seen ${label} incomplete`];
}

/** Creates the missing folders above the file (MKCOL), that of the Endpoint included, starting with the nearest one. */
async function makeFolders({ send, url, label }: WebSinkOptions, signal: AbortSignal): Promise<void> {
  const missing: URL[] = [];
  for (let folder = new URL('./', url); folder.pathname !== '/'; ) {
    const request = {
      method: 'MKCOL',
      url: folder,
      activity: `making the folder of ${label}`,
      writing: true,
    } as const;
    const { status } = await send({ ...request, expect: [200, 201, 301, 404, 405, 409] }, signal);
    // 405: it exists (RFC 4918, 9.3.1); 301: some servers redirect to the name with a slash.
    if (status !== 404 && status !== 409) break;
    missing.unshift(folder);
    folder = new URL('../', folder);
  }
  for (const folder of missing) {
    const request = {
      method: 'MKCOL',
      url: folder,
      activity: `making the folder of ${label}`,
      writing: true,
    } as const;
    await send({ ...request, expect: [200, 201, 301, 405] }, signal);
  }
}

/** Reads a file back and compares it with what was sent. */
async function verify(
  written: FileSource,
  sent: FileIdentity,
  retry: RetryPolicy,
  signal: AbortSignal,
): Promise<void> {
  const reading = { source: written, expected: sent.digest, maxBytes: Number.MAX_SAFE_INTEGER, retry };
  await drain(readFile(reading, signal)).catch((caught: unknown) => {
    if (!(caught instanceof TransferError) || caught.reason !== 'permanent') throw caught;
    const message = `The ${written.label} differs from what was just written (${bytesText(sent.size)} with digest ${sent.digest}): another client writes it, or the server modifies files. ${caught.message}`;
    throw new TransferError('retryable', message, { again: false, cause: caught });
  });
}
