import { isIP } from 'node:net';

/** Registries whose token service is at a host that no rule finds. */
const knownPairs: Readonly<Record<string, string>> = { 'registry-1.docker.io': 'auth.docker.io' };

/**
 * True if the token service at `realm` may get the credentials of the `registry`: both are one named host, whatever the ports
 * (gitlab.example.com:5050 and gitlab.example.com), one is a part of the other's domain (registry.gitlab.com and gitlab.com), or they are a
 * well-known pair. Hosts beside each other do not count, nor do ports of an address: they may belong to different owners.
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

/** A domain of one label, such as `com`, is nobody's. */
function isWithin(host: string, domain: string): boolean {
  return domain.includes('.') && host.endsWith(`.${domain}`);
}
