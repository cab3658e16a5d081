import { isIP } from 'node:net';

/** Registries whose token service no rule finds. */
const knownPairs: Readonly<Record<string, string>> = { 'registry-1.docker.io': 'auth.docker.io' };

/**
 * True if the token service at `realm` may receive the credentials of the `registry`: they share a host name, on any port
 * (gitlab.example.com:5050 and gitlab.example.com), one is a subdomain of the other (registry.gitlab.com and gitlab.com), or they are a
 * well-known pair. Sibling hosts do not qualify, nor do ports of an IP address: they may belong to different owners.
 */
export function isTrustedRealm({ hostname: registry }: URL, { hostname: realm }: URL): boolean {
  return (
    (realm === registry && isName(realm)) ||
    isWithin(registry, realm) ||
    isWithin(realm, registry) ||
    knownPairs[registry] === realm
  );
}

function isName(host: string): boolean {
  return isIP(host.replace(/^\[|\]$/g, '')) === 0;
}

/** A top-level domain, such as `com`, has no single owner. */
function isWithin(host: string, domain: string): boolean {
  return domain.includes('.') && host.endsWith(`.${domain}`);
}
