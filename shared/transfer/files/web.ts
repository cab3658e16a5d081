import type { FileSink, FileSource } from '../content/file.ts';
import { accountOf } from '../credentials/account.ts';
import { secretsOfEndpoint } from '../credentials/credentials.ts';
import type { Session } from '../oci/session.ts';
import { createFileServer } from '../servers/file-server.ts';
import { type FileLocation, labelOf } from '../servers/location.ts';
import { webFile } from '../servers/web-file.ts';
import { fileURL } from './file-url.ts';
import { createWebAuth } from './web-auth.ts';
import { webSink } from './web-sink.ts';

/** A file of an HTTP or WebDAV server to read. Throws a config TransferError. */
export function openWebSource(location: FileLocation, session: Session): FileSource {
  const { send, url, label } = serverOf(location, session);
  return webFile(send, url, label);
}

/** A place of an HTTP server that takes PUT or, with `dav`, of a WebDAV server. Throws a config TransferError. */
export function openWebSink(location: FileLocation, session: Session, dav: boolean): FileSink {
  const { send, url, label } = serverOf(location, session);
  const folders = location.path.split('/').length - 1;
  const base = new URL(folders === 0 ? './' : `./${'../'.repeat(folders)}`, url);
  return webSink({ send, url, label, base, dav, retry: session.retry });
}

function serverOf(
  { name, remoteURL, path, tls = {}, credentials, redirectHosts = [] }: FileLocation,
  session: Session,
) {
  const url = fileURL(remoteURL, path, tls);
  for (const secret of secretsOfEndpoint(credentials)) session.masker.add(secret);
  const origin = new URL(url.origin);
  const send = createFileServer({
    endpoint: name,
    origin,
    client: session.client(tls, url.origin),
    limiter: session.limiter(url.origin, accountOf(credentials, tls)),
    retry: session.retry,
    signer: createWebAuth({ endpoint: name, origin, tls, credentials }),
    redirectHosts,
  });
  return { send, url, label: labelOf(path, url) };
}
