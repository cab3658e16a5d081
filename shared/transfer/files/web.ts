import type { FileSink, FileSource } from '../content/file.ts';
import { accountOf } from '../credentials/account.ts';
import { secretsOfEndpoint } from '../credentials/credentials.ts';
import { fileURL } from '../reference/address.ts';
import type { Connections } from '../servers/connections.ts';
import { createFileServer } from '../servers/file-server.ts';
import { type FileLocation, labelOf } from '../servers/location.ts';
import { webFile } from '../servers/web-file.ts';
import { createWebAuth } from './web-auth.ts';
import { webSink } from './web-sink.ts';

/** Opens a file of an HTTP or WebDAV server for reading. Throws a config TransferError. */
export function openWebSource(location: FileLocation, connections: Connections): FileSource {
  const { send, url, label } = serverOf(location, connections);
  return webFile(send, url, label);
}

/** Opens a file of an HTTP server that supports PUT, or with `dav` of a WebDAV server, for writing. Throws a config TransferError. */
export function openWebSink(location: FileLocation, connections: Connections, dav: boolean): FileSink {
  const { send, url, label } = serverOf(location, connections);
  return webSink({ send, url, label, dav, retry: connections.retry });
}

/** Returns the client and URL for one file. Throws a config TransferError. */
export function serverOf(
  { name, remoteURL, path, tls = {}, credentials, redirectHosts = [] }: FileLocation,
  connections: Connections,
) {
  const url = fileURL(remoteURL, path, tls);
  for (const secret of secretsOfEndpoint(credentials)) connections.masker.add(secret);
  const origin = new URL(url.origin);
  const send = createFileServer({
    endpoint: name,
    origin,
    client: connections.client(tls, url.origin),
    limiter: connections.limiter(url.origin, accountOf(credentials, tls)),
    retry: connections.retry,
    signer: createWebAuth({ endpoint: name, origin, tls, credentials }),
    redirectHosts,
  });
  return { send, url, label: labelOf(path, url) };
}
