import { publicGuard } from './address-guard.ts';
import type { HttpRequest } from './http-client.ts';
import { isTrustedRealm } from './realm.ts';

/** What a worker may do at one URL, on behalf of one Endpoint. */
export interface Access {
  /** Whose server it is: the Endpoint's own, one that the Endpoint names, or any other. */
  server: 'own' | 'named' | 'other';
  /** True if requests may carry the credentials of the Endpoint. */
  credentials: boolean;
  /** True if it may be sent content, and not only be asked. */
  writing: boolean;
  /** True if its addresses must be public: nobody but a server that nobody has to trust has named it. */
  publicOnly: boolean;
  /** True if a message may quote what it answers. What another server answers is nothing that the reader of an Order may have asked for. */
  quotable: boolean;
}

/** Decides for each URL that a server, or content of it, leads a worker to. */
export interface Reach {
  access(url: URL): Access;
  /** Why a request is not sent to `url`; undefined if it may be. `from` is the URL that led there. */
  refusal(method: HttpRequest['method'], url: URL, from?: URL): string | undefined;
}

export interface ReachOptions {
  /** The Endpoint's name, for messages. */
  endpoint: string;
  /** Where the server of the Endpoint is by now: `https://host[:port]`. */
  origin: () => URL;
  /** `spec.redirectHosts` of the Endpoint: where reading may lead and content may go, without credentials (`isNamed`). */
  redirectHosts?: readonly string[];
  /** Hosts that may be asked with the credentials. */
  tokenHosts?: readonly string[];
}

const own: Access = { server: 'own', credentials: true, writing: true, publicOnly: false, quotable: true };
const named: Access = { ...own, server: 'named', credentials: false, quotable: false };
const vouched: Access = { ...named, credentials: true, writing: false };
const other: Access = { ...named, server: 'other', writing: false, publicOnly: true };

/**
 * The rules, whatever the kind of server. Content and credentials go to the server of the Endpoint. Content goes to the hosts of
 * `redirectHosts` as well, credentials to those of `tokenHosts`. Every other server is only read from, by public addresses, and nothing that
 * was asked for by https is asked for by http.
 */
export function createReach({ endpoint, origin, redirectHosts = [], tokenHosts = [] }: ReachOptions): Reach {
  function access(url: URL): Access {
    if (isSameServer(origin(), url)) return own;
    if (tokenHosts.includes(url.host) || tokenHosts.includes(url.hostname)) return vouched;
    return isNamed(redirectHosts, url) ? named : other;
  }
  return {
    access,
    refusal(method, url, from) {
      if (from?.protocol === 'https:' && url.protocol === 'http:')
        return 'what was asked for by https is not asked for by http';
      const { writing, publicOnly } = access(url);
      if (method === 'GET' || method === 'HEAD' || writing) return publicOnly ? notPublic(url) : undefined;
      return `only the server of Endpoint "${endpoint}" and the hosts in its spec.redirectHosts are sent anything`;
    },
  };
}

/** Why an address is not asked; undefined for a name, which is judged when it is resolved. */
function notPublic({ hostname }: URL): string | undefined {
  try {
    publicGuard.check(hostname);
    return undefined;
  } catch (caught) {
    return caught instanceof Error ? caught.message : String(caught);
  }
}

/**
 * What may be done at the token service at `realm` of the registry at `origin`. It gets the credentials if it is the registry's own or the
 * Endpoint names it (`isTrustedRealm`), and may then be in a private network, unless a registry with a public address has named it.
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
 * (443 instead of 80 where neither names a port), which is how servers move clients to TLS.
 */
export function isSameServer(origin: URL, url: URL): boolean {
  const upgraded = origin.protocol === 'http:' && url.protocol === 'https:';
  return url.origin === origin.origin || (upgraded && url.host === origin.host);
}

/** Whether a URL is shown the client certificate: those of the server at `origin` and of the `tokenHosts`, with a port or without. */
export function mayKnow(origin: string, tokenHosts: readonly string[]): (url: URL) => boolean {
  const reach = createReach({ endpoint: '', origin: () => new URL(origin), tokenHosts });
  return (url) => reach.access(url).credentials;
}

/**
 * True if one of `hosts` names the server of `url`: `host` means the usual port of http or https, `host:port` that port; `*.domain` is every
 * host below it. `*` alone, which no Endpoint can have, is every host.
 */
export function isNamed(hosts: readonly string[], { hostname, host, port, protocol }: URL): boolean {
  const explicit = `${hostname}:${port || (protocol === 'http:' ? '80' : '443')}`;
  return hosts.some((one) =>
    one.startsWith('*')
      ? one === '*' || host.endsWith(one.slice(1)) || explicit.endsWith(one.slice(1))
      : one === host || one === explicit,
  );
}
