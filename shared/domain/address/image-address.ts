import { AddressError } from './address-error.ts';
import { formatReference, type ImageName, isHost, parseImageName } from './reference.ts';

/** The part of an Endpoint's `spec.tls` that addresses depend on: true where the server speaks HTTP without TLS. */
export interface Plain {
  plainHTTP?: boolean;
}

/** An image in a registry: the registry's origin, the host that users write, repository and version. */
export interface ImageAddress extends ImageName {
  /** `https://host[:port]`, in lower case and without the default port: where requests go. */
  origin: string;
  /** `host[:port]` as the Endpoint names it: the key of credentials, and the name in messages. */
  host: string;
}

const dockerHub = new Set(['docker.io', 'index.docker.io', 'registry-1.docker.io']);

interface Base {
  scheme: 'http' | 'https';
  host: string;
  prefix: string;
}

function refuse(remoteURL: string, why: string): never {
  throw new AddressError(`The Endpoint's remoteURL "${remoteURL.slice(0, 300)}" cannot be used: ${why}.`);
}

function parseBase(remoteURL: string, tls: Plain): Base {
  const match = /^(?:([a-z][a-z0-9+.-]*):\/\/)?([^/?#]*)(\/[^?#]*)?$/i.exec(remoteURL.trim());
  if (!match) refuse(remoteURL, 'it must have the form https://host[:port][/prefix]');
  const scheme = match[1]?.toLowerCase();
  const host = match[2] ?? '';
  const prefix = (match[3] ?? '').replace(/^\/+|\/+$/g, '');
  if (host.includes('@')) {
    throw new AddressError(
      "The Endpoint's remoteURL contains credentials: move them into a Secret and name the Secret in spec.secretRef.",
    );
  }
  if (!isHost(host)) refuse(remoteURL, `"${host}" is not a host name`);
  if (scheme !== undefined && !['http', 'https', 'oci'].includes(scheme)) {
    refuse(remoteURL, `an OCI registry uses http or https, not "${scheme}"`);
  }
  if (scheme === 'https' && tls.plainHTTP === true) {
    refuse(
      remoteURL,
      'its scheme is https, but spec.tls.plainHTTP is true: write http:// or remove plainHTTP',
    );
  }
  const plain = scheme === 'http' || tls.plainHTTP === true;
  return { scheme: plain ? 'http' : 'https', host, prefix };
}

/**
 * Resolves an artifact's `image` (`path[:tag][@digest]`) against an Endpoint's `remoteURL` (`https://host[:port][/prefix]`, `http://...`,
 * `oci://...` or without a scheme). Throws an AddressError.
 */
export function resolveAddress(remoteURL: string, image: string, tls: Plain = {}): ImageAddress {
  const base = parseBase(remoteURL, tls);
  const name = parseImageName(image);
  const path = base.prefix === '' ? name.repository : `${base.prefix}/${name.repository}`;
  // Lower case, without the default port of the scheme.
  const server = URL.parse(`${base.scheme}://${base.host}`);
  if (server === null) refuse(remoteURL, `"${base.host}" is not a host name`);
  const hub = dockerHub.has(server.host);
  // Docker Hub keeps official images under library/ and serves its API from another host than the host in image names.
  const repository = hub && !path.includes('/') ? `library/${path}` : path;
  const host = hub ? 'docker.io' : base.host;
  const checked = parseImageName(formatReference({ ...name, repository }));
  return { ...checked, host, origin: hub ? `${base.scheme}://registry-1.docker.io` : server.origin };
}
