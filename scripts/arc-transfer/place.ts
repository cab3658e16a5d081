import { pathToFileURL } from 'node:url';
import { decodedName, escapeName } from '#shared/domain/address';
import { formatReference, isLoopback, parseReference, registryURL, TransferError } from '#shared/transfer';

/** A place on the command line: an Endpoint, and an artifact there. */
export interface Place {
  type: string;
  remoteURL: string;
  /** The artifact relative to `remoteURL`; undefined if a destination keeps the name of the source. */
  name: string | undefined;
  /** `host[:port]`, the key of its credentials; none for a folder. */
  host?: string;
  /** True for a local registry without a scheme, which may use TLS. */
  maySpeakTls?: boolean;
}

// A layout has no slashes, as in skopeo and regctl.
const schemeForm = /^(?:(oci-layout):(?!\/\/)|([a-z][a-z0-9+-]*):\/\/)(.*)$/is;

/** The parsers of each scheme; `rest` follows `scheme://`. */
const schemes = new Map<string, (rest: string) => Place>([
  ['oci', (rest) => registryPlace(rest, undefined)],
  ['docker', (rest) => registryPlace(rest, undefined)],
  ['oci+https', (rest) => registryPlace(rest, 'https')],
  ['oci+http', (rest) => registryPlace(rest, 'http')],
  ['oci-layout', layoutPlace],
  ['https', (rest) => filePlace('http', 'https', rest)],
  ['http', (rest) => filePlace('http', 'http', rest)],
  ['davs', (rest) => filePlace('webdav', 'https', rest)],
  ['dav', (rest) => filePlace('webdav', 'http', rest)],
  ['s3', bucketPlace],
  ['helm+https', (rest) => filePlace('helm', 'https', rest)],
  ['helm+http', (rest) => filePlace('helm', 'http', rest)],
]);

/**
 * Parses SRC or DST: `oci://host/path:tag`, `oci+http://...` for a registry without TLS, or no scheme, as in `docker pull`. A loopback registry
 * may use TLS or not, unless `oci+https://` or `oci+http://` decides. `oci-layout:FOLDER[:NAME]` is an OCI image layout, `https://` a file,
 * `davs://` a file on a WebDAV server, `helm+https://host/path/chart:version` a chart of a Helm repository. Throws a config TransferError.
 */
export function parsePlace(text: string): Place {
  const [, layout, scheme = layout, rest = text] = schemeForm.exec(text) ?? [];
  const read = schemes.get(scheme?.toLowerCase() ?? 'oci');
  if (read) return read(rest);
  throw new TransferError(
    'config',
    `"${text.slice(0, 300)}" cannot be used: its scheme is "${scheme}://", which is not one of ${[...schemes.keys()].map((each) => `${each}://`).join(', ')}.`,
  );
}

function layoutPlace(rest: string): Place {
  const [folder = '', ...name] = rest.split(':');
  if (folder === '')
    throw new TransferError('config', 'oci-layout: needs a folder, as in oci-layout:./folder:1.0.');
  const remoteURL = pathToFileURL(folder).href;
  return { type: 'oci-layout', remoteURL, name: name.length === 0 ? undefined : name.join(':') };
}

/** A file on a server, named by its whole path, or a chart in a repository, named by the last part of its URL. */
function filePlace(type: string, scheme: string, rest: string): Place {
  const text = `${scheme}://${rest}`;
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.search !== '' || url.hash !== '')
    throw new TransferError(
      'config',
      `The URL at "${url?.host ?? rest.slice(0, 100)}" cannot be used: it must have the form ${scheme}://host/path, without user, query and fragment.`,
    );
  const path = rest.replace(/^[^/]*\/?/, '');
  const place = { type, host: url.host };
  if (path === '' || path.endsWith('/'))
    return { ...place, remoteURL: text.replace(/\/$/, ''), name: undefined };
  const cut = type === 'helm' ? path.lastIndexOf('/') + 1 : 0;
  const remoteURL = `${scheme}://${url.host}/${path.slice(0, cut)}`.replace(/\/$/, '');
  return { ...place, remoteURL, name: decodedPath(path.slice(cut)) };
}

/** The unescaped path of a URL: `a%20b` is `a b`. A `%` that is no escape is kept. */
function decodedPath(path: string): string {
  return path
    .split('/')
    .map((name) => {
      const decoded = decodedName(name);
      if (!decoded.includes('/')) return decoded;
      throw new TransferError(
        'config',
        `The path "${path.slice(0, 200)}" cannot be used: a name cannot contain %2F.`,
      );
    })
    .join('/');
}

/** An object of an S3 storage: `bucket/key`, taken literally, as by other tools. */
function bucketPlace(rest: string): Place {
  const bucket = rest.split('/')[0] ?? '';
  const key = rest.slice(bucket.length + 1);
  const inside = key === '' || key.endsWith('/');
  const prefix = inside ? key.split('/').filter(Boolean).map(escapeName) : [];
  const remoteURL = `s3://${[bucket, ...prefix].join('/')}`;
  return { type: 's3', host: bucket, remoteURL, name: inside ? undefined : key };
}

function registryPlace(rest: string, scheme: string | undefined): Place {
  const host = rest.split('/')[0] ?? '';
  const remote = scheme === undefined ? registryURL(host) : `${scheme}://${host}`;
  const maySpeakTls = scheme === undefined && isLoopback(host);
  // As with `cp`: into this folder, under the same name.
  if (rest.endsWith('/') || (rest === host && (host.includes('.') || isLoopback(host))))
    return {
      type: 'oci',
      remoteURL: `${remote}${rest.slice(host.length).replace(/\/$/, '')}`,
      name: undefined,
      host,
      maySpeakTls,
    };
  const { host: _, ...image } = parseReference(rest);
  return { type: 'oci', remoteURL: remote, name: formatReference(image), host, maySpeakTls };
}
