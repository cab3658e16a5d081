import type { ServerResponse } from 'node:http';
import { digestOf } from '../reference/digest.ts';
import { type FaultServer, type SeenRequest, startFaultServer } from './fault-server.ts';

export interface StoredFile {
  bytes: Buffer;
  mediaType: string;
}

export interface WebServerOptions {
  /** The required `username:password` or `Bearer <token>`; others get 401. */
  account?: string;
  /** True: supports PROPFIND, MKCOL, MOVE and DELETE, and refuses a PUT into a missing folder. */
  dav?: boolean;
  /** False: ignores Range. */
  ranges?: boolean;
  /** False: sends no ETag. */
  etags?: boolean;
}

/** An HTTP or WebDAV server with its files by path, such as `/a/b`. */
export interface WebServer extends FaultServer {
  files: Map<string, StoredFile>;
  folders: Set<string>;
}

/** Starts an empty one. */
export async function startWebServer(options: WebServerOptions = {}): Promise<WebServer> {
  const files = new Map<string, StoredFile>();
  const folders = new Set(['/']);
  const server = await startFaultServer((request, body, response) => {
    const { account } = options;
    if (account !== undefined && !isKnown(account, request)) {
      const scheme = account.startsWith('Bearer ') ? 'Bearer' : 'Basic';
      response.writeHead(401, { 'www-authenticate': `${scheme} realm="files"` }).end();
      return;
    }
    serve(request, body, response);
  });
  function serve(request: SeenRequest, body: Buffer, response: ServerResponse): void {
    const path = decodeURIComponent(new URL(request.path, server.url).pathname);
    const { method } = request;
    if (method === 'GET' || method === 'HEAD') read(path, request, response);
    else if (method === 'PUT') put(path, request, body, response);
    else if (options.dav !== true) response.writeHead(405).end();
    else if (method === 'MKCOL') response.writeHead(makeFolder(path)).end();
    else if (method === 'MOVE') move(path, request, response);
    else if (method === 'PROPFIND') list(path, response);
    else if (method === 'DELETE') response.writeHead(files.delete(path) ? 204 : 404).end();
    else response.writeHead(405).end();
  }
  function read(path: string, { method, headers }: SeenRequest, response: ServerResponse): void {
    const file = files.get(path);
    if (!file) {
      response.writeHead(404).end();
      return;
    }
    const etag = `"${digestOf(file.bytes).slice(7, 23)}"`;
    const known = options.etags === false ? {} : { etag };
    const asked = options.ranges === false ? undefined : /^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1];
    const fits = headers['if-range'] === undefined || headers['if-range'] === etag;
    const start = asked !== undefined && fits ? Number(asked) : 0;
    const { length } = file.bytes;
    if (start > 0 && start >= length) {
      response.writeHead(416, { 'content-range': `bytes */${length}` }).end();
      return;
    }
    const part = file.bytes.subarray(start);
    response.writeHead(start > 0 ? 206 : 200, {
      ...known,
      'content-type': file.mediaType,
      'content-length': part.length,
      ...(start > 0 ? { 'content-range': `bytes ${start}-${length - 1}/${length}` } : {}),
    });
    response.end(method === 'HEAD' ? undefined : part);
  }
  function put(path: string, request: SeenRequest, bytes: Buffer, response: ServerResponse): void {
    if (options.dav === true && !folders.has(path.replace(/[^/]*$/, ''))) {
      response.writeHead(409).end();
      return;
    }
    const status = files.has(path) ? 204 : 201;
    files.set(path, { bytes, mediaType: request.headers['content-type'] ?? '' });
    response.writeHead(status).end();
  }
  /** The entries of a folder, including the folder itself. */
  function list(path: string, response: ServerResponse): void {
    const all = [
      ...[...folders].map((name) => ({ name, size: undefined })),
      ...[...files].map(([name, { bytes }]) => ({ name, size: bytes.length })),
    ];
    const inside = all.filter(
      ({ name }) => name === path || (name.startsWith(path) && !name.slice(path.length, -1).includes('/')),
    );
    const responses = inside.map(({ name, size }) => {
      const type =
        size === undefined
          ? '<d:resourcetype><d:collection/></d:resourcetype>'
          : `<d:getcontentlength>${size}</d:getcontentlength>`;
      const href = name.split('/').map(encodeURIComponent).join('/');
      return `<d:response><d:href>${href}</d:href><d:propstat><d:prop>${type}</d:prop></d:propstat></d:response>`;
    });
    const found = folders.has(path);
    response.writeHead(found ? 207 : 404, { 'content-type': 'application/xml' });
    response.end(found ? `<d:multistatus xmlns:d="DAV:">${responses.join('')}</d:multistatus>` : undefined);
  }
  function makeFolder(path: string): number {
    if (folders.has(path)) return 405;
    if (!folders.has(path.replace(/[^/]*\/$/, ''))) return 409;
    folders.add(path);
    return 201;
  }
  function move(path: string, { headers }: SeenRequest, response: ServerResponse): void {
    const file = files.get(path);
    const { destination } = headers;
    if (!file || typeof destination !== 'string') {
      response.writeHead(404).end();
      return;
    }
    files.delete(path);
    files.set(decodeURIComponent(new URL(destination).pathname), file);
    response.writeHead(201).end();
  }
  return Object.assign(server, { files, folders });
}

function isKnown(account: string, { headers }: SeenRequest): boolean {
  const expected = account.startsWith('Bearer ')
    ? account
    : `Basic ${Buffer.from(account).toString('base64')}`;
  return headers.authorization === expected;
}
