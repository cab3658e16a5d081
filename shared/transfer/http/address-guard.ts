import { type LookupAddress, lookup } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { type AddressRange, type AddressSet, allExceptClosed, isPublic } from './address-ranges.ts';

/** Decides which addresses may be dialled. */
export interface AddressGuard {
  /** For `http.request`: resolves a name to its allowed addresses only. Node does not call it for IP addresses. */
  readonly lookup: LookupFunction;
  /** Throws AddressDeniedError if `host` (as in a URL) is a denied IP address; names pass. */
  check(host: string): void;
}

/** A connection to an address that the guard denies. */
export class AddressDeniedError extends Error {
  readonly code = 'ERR_ADDRESS_DENIED';
}

/**
 * Returns a guard that denies loopback, link-local, multicast and metadata addresses, except those in `allowed`. It checks the addresses
 * that a name resolves to and dials one of those, so a name that resolves differently the next time (DNS rebinding) gains nothing.
 */
export function createAddressGuard(allowed: readonly AddressRange[] = []): AddressGuard {
  return guardOf(
    allExceptClosed(allowed),
    (name, addresses) => `${name} is at ${addresses.join(', ')}, which may not be reached from here`,
  );
}

/** Why an address of a private network is not dialled. The address stays out of the message: whoever chose the host may not own the network. */
const privateText = (host: string) =>
  `${host} is in a private network, where only the server of the Endpoint and the hosts in its spec.redirectHosts, or for tokens in spec.tokenHosts, are contacted`;

/** Denies every address outside the public internet. */
export const publicGuard = guardOf(isPublic, privateText);

/**
 * The guard for one request to `url`. With `publicOnly` the host must be public. A proxy may be private; the proxy then resolves the
 * name of the host.
 */
export function guardFor(guard: AddressGuard, url: URL, publicOnly = false): AddressGuard {
  if (!publicOnly) return guard;
  return {
    check: publicGuard.check,
    lookup: (name, options, callback) =>
      (name === url.hostname ? publicGuard : guard).lookup(name, options, callback),
  };
}

function guardOf(
  allows: AddressSet,
  explain: (name: string, addresses: readonly string[]) => string,
): AddressGuard {
  return {
    check(host) {
      const address = host.replace(/^\[|\]$/g, '');
      if (isIP(address) !== 0 && !allows(address)) throw new AddressDeniedError(explain(host, [address]));
    },
    lookup(hostname, options, callback) {
      lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[] = []) => {
        const usable = found.filter(({ address }) => allows(address));
        const [first] = usable;
        const all = found.map(({ address }) => address);
        if (error) callback(error, []);
        else if (first === undefined) callback(new AddressDeniedError(explain(hostname, all)), []);
        else if (options.all === true) callback(null, usable);
        else callback(null, first.address, first.family);
      });
    },
  };
}
