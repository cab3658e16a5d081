import { publicGuard } from './address-guard.ts';
import type { HttpRequest } from './http-client.ts';
import { isTrustedRealm } from './realm.ts';

/** The permissions of a worker at one URL, on behalf of one Endpoint. */
export interface Access {
  /** The server: the Endpoint's own, one that the Endpoint names, or any other. */
  server: 'own' | 'named' | 'other';
  /** True if requests may carry the credentials of the Endpoint. */
  credentials: boolean;
  /** True if content may be sent to it. */
  writing: boolean;
  /** True if its addresses must be public, because only an untrusted server has named it. */
  publicOnly: boolean;
  /** True if messages may quote its responses. The reader of an Order may not be entitled to the responses of other servers. */
  quotable: boolean;
}

/** Decides about each URL that a server or its content refers to. */
export interface ReachPolicy {
  access(url: URL): Access;
  /** Why a request to `url` is refused; undefined if it is allowed. `from` is the URL that referred to it. */
  refusal(method: HttpRequest['method'], url: URL, from?: URL): string | undefined;
}

export interface ReachOptions {
  /** The Endpoint's name, for messages. */
  endpoint: string;
  /** The current server of the Endpoint: `https://host[:port]`. */
  origin: () => URL;
  /** `spec.redirectHosts` of the Endpoint: may be read from and written to, without credentials (`isNamed`). */
  redirectHosts?: readonly string[];
  /** Hosts that may be read from with the credentials. */
  tokenHosts?: readonly string[];
}

const own: Access = { server: 'own', credentials: true, writing: true, publicOnly: false, quotable: true };
const named: Access = { ...own, server: 'named', credentials: false, quotable: false };
const vouched: Access = { ...named, credentials: true, writing: false };
const other: Access = { ...named, server: 'other', writing: false, publicOnly: true };

/**
 * Creates the rules, which are the same for every kind of server. The server of the Endpoint may receive content and credentials, the hosts
 * of `redirectHosts` content, and those of `tokenHosts` credentials. Every other server is read-only and must have a public address. A
 * request never goes from https to http.
 */
export function createReach({
  endpoint,
  origin,
  redirectHosts = [],
  tokenHosts = [],
}: ReachOptions): ReachPolicy {
  function access(url: URL): Access {
    if (isSameServer(origin(), url)) return own;
    if (tokenHosts.includes(url.host) || tokenHosts.includes(url.hostname)) return vouched;
    return matchesHost(redirectHosts, url) ? named : other;
  }
  return {
    access,
    refusal(method, url, from) {
      if (from?.protocol === 'https:' && url.protocol === 'http:')
        return 'a request over https is not continued over http';
      const { writing, publicOnly } = access(url);
      if (method === 'GET' || method === 'HEAD' || writing) return publicOnly ? notPublic(url) : undefined;
      return `only the server of Endpoint "${endpoint}" and the hosts in its spec.redirectHosts may be written to`;
    },
  };
}

/** Why an IP address is refused; undefined for a name, which is checked when it is resolved. */
function notPublic({ hostname }: URL): string | undefined {
  try {
    publicGuard.check(hostname);
    return undefined;
  } catch (caught) {
    return caught instanceof Error ? caught.message : String(caught);
  }
}

/**
 * The permissions at the token service `realm` of the registry at `origin`. The token service receives the credentials if it belongs to the
 * registry or the Endpoint names it (`isTrustedRealm`), and may then be in a private network, unless a public registry has named it.
 */
export function realmAccess(
  realm: URL,
  { origin, tokenHosts, fromPublic }: { origin: URL; tokenHosts: readonly string[]; fromPublic: boolean },
): Access {
  if (isSameServer(origin, realm)) return own;
  if (tokenHosts.includes(realm.host) || tokenHosts.includes(realm.hostname)) return vouched;
  return isTrustedRealm(origin, realm) ? { ...vouched, publicOnly: fromPublic } : other;
}

/**
 * True if `url` belongs to the server at `origin`: the same scheme, host and port, or https instead of http with the same host and port
 * (443 instead of 80 if neither names a port), which is how servers upgrade clients to TLS.
 */
export function isSameServer(origin: URL, url: URL): boolean {
  const upgraded = origin.protocol === 'http:' && url.protocol === 'https:';
  return url.origin === origin.origin || (upgraded && url.host === origin.host);
}

/** Returns a predicate for URLs that may see the client certificate: the server at `origin` and the `tokenHosts`, with a port or without. */
export function mayIdentifyAt(origin: string, tokenHosts: readonly string[]): (url: URL) => boolean {
  const reach = createReach({ endpoint: '', origin: () => new URL(origin), tokenHosts });
  return (url) => reach.access(url).credentials;
}

/**
 * True if one of `hosts` matches the server of `url`: `host` is the default port of http or https, `host:port` that port; `*.domain` is
 * every host below the domain. `*` alone, which no Endpoint can have, is every host.
 */
export function matchesHost(hosts: readonly string[], { hostname, host, port, protocol }: URL): boolean {
  const explicit = `${hostname}:${port || (protocol === 'http:' ? '80' : '443')}`;
  return hosts.some((entry) =>
    entry.startsWith('*')
      ? entry === '*' || host.endsWith(entry.slice(1)) || explicit.endsWith(entry.slice(1))
      : entry === host || entry === explicit,
  );
}
