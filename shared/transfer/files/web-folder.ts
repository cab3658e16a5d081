import { type FileFolder, type ListedFile, maxFolderFiles } from '../content/folder.ts';
import { TransferError } from '../errors/transfer-error.ts';
import { readBody } from '../http/body.ts';
import type { Connections } from '../servers/connections.ts';
import type { FileServer, ServerRequest } from '../servers/file-server.ts';
import { type FileLocation, fileURL } from '../servers/location.ts';
import { entriesOfIndex, entriesOfMultistatus, type FolderEntry } from './folder-entries.ts';
import { serverOf } from './web.ts';

const maxListBytes = 32 * 1024 * 1024;
const deepest = 32;
const mostFolders = 10_000;
/** Answers of servers that have no PROPFIND, or not for everybody. */
const noPropfind = [400, 403, 405, 415, 501];
/** Stands for any file of the folder. */
const anyName = 'x';

/**
 * A folder of a WebDAV server (PROPFIND, RFC 4918), or of a web server whose page for it links its files, as the indexes of nginx, Apache and
 * Caddy do. `path` is empty, or has a slash at its end. Throws a config TransferError.
 */
export function openWebFolder(location: FileLocation, connections: Connections, dav: boolean): FileFolder {
  const { send, url } = serverOf({ ...location, path: `${location.path}${anyName}` }, connections);
  const root = new URL('./', url);
  const label = `folder "${location.path}" of server ${root.host}`;
  return {
    label,
    list: (signal) => listed({ send, root, label, dav }, signal),

    async remove(path, signal) {
      const { remoteURL, tls = {} } = location;
      const file = fileURL(remoteURL, `${location.path}${path}`, tls);
      const activity = `deleting file "${path}" of ${label}`;
      const expect = [200, 202, 204, 404];
      await send({ method: 'DELETE', url: file, expect, writing: true, activity }, signal);
    },
  };
}

interface Listing {
  send: FileServer;
  root: URL;
  label: string;
  dav: boolean;
}

async function listed(listing: Listing, signal: AbortSignal): Promise<ListedFile[]> {
  const { root, label } = listing;
  const files: ListedFile[] = [];
  const seen = new Set([root.pathname]);
  const folders = [{ url: root, path: '', depth: 0 }];
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    const entries = await entriesOf(listing, folder.url, signal);
    // The folder itself may be missing; one that it lists may not.
    if (entries === undefined && folder.depth > 0) throw unreadable(label, folder.path);
    for (const { name, size, isFolder } of entries ?? []) {
      const path = `${folder.path}${name}`;
      if (!isFolder) files.push({ path, ...(size !== undefined && { size }) });
      else {
        const url = new URL(`${encodeURIComponent(name)}/`, folder.url);
        if (seen.has(url.pathname)) continue;
        seen.add(url.pathname);
        folders.push({ url, path: `${path}/`, depth: folder.depth + 1 });
      }
      if (files.length > maxFolderFiles || seen.size > mostFolders || folder.depth > deepest)
        throw new TransferError(
          'permanent',
          `The ${label} has more than ${maxFolderFiles} files, or is more than ${deepest} folders deep: move parts of it.`,
        );
    }
  }
  return files;
}

/** What is directly in a folder; undefined if it does not exist. */
async function entriesOf(
  listing: Listing,
  url: URL,
  signal: AbortSignal,
): Promise<FolderEntry[] | undefined> {
  if (listing.dav) {
    const found = await byPropfind(listing, url, signal);
    if (found !== 'unsupported') return found;
  }
  const headers = { accept: 'application/json, text/html;q=0.9', 'accept-encoding': 'identity' };
  const answer = await read(listing, { method: 'GET', url, headers, expect: [200, 404, 410] }, signal);
  if (answer.status !== 200) return undefined;
  const entries = entriesOfIndex(answer.bytes, answer.contentType, url);
  if (entries === undefined) throw unreadable(listing.label, url.pathname);
  return entries;
}

async function byPropfind(
  listing: Listing,
  url: URL,
  signal: AbortSignal,
): Promise<FolderEntry[] | 'unsupported' | undefined> {
  const headers = { depth: '1', 'content-type': 'application/xml' };
  const request = { method: 'PROPFIND', url, headers, expect: [207, 404, 410, ...noPropfind] } as const;
  const { status, bytes } = await read(listing, request, signal);
  if (noPropfind.includes(status)) return 'unsupported';
  if (status !== 207) return undefined;
  const entries = entriesOfMultistatus(bytes, url);
  if (entries === undefined) throw unreadable(listing.label, url.pathname);
  return entries;
}

/** An answer as a whole: part of a list would look like a folder with fewer files. */
async function read(
  { send, label }: Listing,
  request: Omit<ServerRequest, 'activity' | 'streamed'>,
  signal: AbortSignal,
) {
  const { status, headers, stream } = await send(
    { ...request, streamed: true, activity: `listing ${label}` },
    signal,
  );
  const bytes = await readBody(stream, maxListBytes);
  if (bytes === undefined) throw unreadable(label, request.url.pathname, 'its list is larger than 32 MiB');
  return { status, bytes, contentType: headers['content-type'] ?? '' };
}

function unreadable(
  label: string,
  path: string,
  why = 'the server has no list of it: an index (autoindex) or WebDAV is needed',
): TransferError {
  return new TransferError('permanent', `The ${label} cannot be listed at ${path}: ${why}.`);
}
