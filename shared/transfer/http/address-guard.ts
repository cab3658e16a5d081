import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/** Decides which addresses may be dialled. */
export interface AddressGuard {
  /** For `http.request`: resolves a name to its allowed addresses only. Node does not call it for a host that is an address. */
  readonly lookup: LookupFunction;
  /** Throws AddressDeniedError if `host` (as in a URL) is a denied address; says nothing about names. */
  check(host: string): void;
}

/** All addresses that begin with the first `length` bits of `address`. */
export type AddressRange = readonly [address: string, length: number];

/** This machine: a worker may reach it, a prober of a cluster may not. */
export const loopbackRanges: readonly AddressRange[] = [
  ['127.0.0.0', 8],
  ['::1', 128],
];

/** A server that must not be dialled. */
export class AddressDeniedError extends Error {
  readonly code = 'ERR_ADDRESS_DENIED';
}

// This machine, this link and what clouds serve credentials at. BlockList compares IPv4-mapped IPv6 addresses as IPv4.
const denied: readonly AddressRange[] = [
  ['0.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['100.100.100.200', 32],
  ['192.0.0.192', 32],
  ['224.0.0.0', 4],
  ['255.255.255.255', 32],
  ['::', 128],
  ['::1', 128],
  ['fe80::', 10],
  ['fd00:ec2::254', 128],
  ['ff00::', 8],
  // NAT64 of the first ranges
  ['64:ff9b::', 104],
  ['64:ff9b::7f00:0', 104],
  ['64:ff9b::a9fe:0', 112],
];

function addressesIn(ranges: readonly AddressRange[]): BlockList {
  const list = new BlockList();
  for (const [address, length] of ranges) list.addSubnet(address, length, familyOf(address));
  return list;
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

/**
 * Refuses loopback, link-local, multicast and metadata addresses, but for those in `allowed`. The addresses that a name
 * resolves to are judged, and one of those is dialled: a name that resolves to another address the next time gains nothing.
 */
export function createAddressGuard(allowed: readonly AddressRange[] = []): AddressGuard {
  const closed = addressesIn(denied);
  const open = addressesIn(allowed);
  const allows = (address: string) => {
    const family = familyOf(address);
    return open.check(address, family) || !closed.check(address, family);
  };
  const refusal = (name: string, addresses: readonly string[]) =>
    new AddressDeniedError(`${name} is at ${addresses.join(', ')}, which may not be reached from here`);

  return {
    check(host) {
      const address = host.replace(/^\[|\]$/g, '');
      if (isIP(address) !== 0 && !allows(address)) throw refusal(host, [address]);
    },
    lookup(hostname, options, callback) {
      lookup(hostname, { ...options, all: true }, (error, found: LookupAddress[] = []) => {
        const usable = found.filter(({ address }) => allows(address));
        const [first] = usable;
        if (error) callback(error, []);
        else if (first === undefined)
          callback(
            refusal(
              hostname,
              found.map(({ address }) => address),
            ),
            [],
          );
        else if (options.all === true) callback(null, usable);
        else callback(null, first.address, first.family);
      });
    },
  };
}
