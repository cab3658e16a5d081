/** Registries whose token service is at a host that no rule finds. */
const knownPairs: Readonly<Record<string, string>> = { 'registry-1.docker.io': 'auth.docker.io' };

/**
 * True if the token service at host `realm` may get the credentials of the registry at host `registry`: both are one host, one is a
 * part of the other's domain (registry.gitlab.com and gitlab.com), they are a well-known pair, or the Endpoint names the realm's
 * host. Hosts beside each other do not count: on many domains they belong to different owners.
 */
export function isTrustedRealm(registry: string, realm: string, named: readonly string[]): boolean {
  return (
    realm === registry ||
    isWithin(registry, realm) ||
    isWithin(realm, registry) ||
    knownPairs[registry] === realm ||
    named.includes(realm)
  );
}

/** A domain of one label, such as `com`, is nobody's. */
function isWithin(host: string, domain: string): boolean {
  return domain.includes('.') && host.endsWith(`.${domain}`);
}
