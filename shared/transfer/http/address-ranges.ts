import { BlockList, isIP } from 'node:net';

/** A CIDR block: all addresses with the first `length` bits of `address`. */
export type AddressRange = readonly [address: string, length: number];

/** This machine: a worker may reach it, a prober in a cluster may not. */
export const loopbackRanges: readonly AddressRange[] = [
  ['127.0.0.0', 8],
  ['::1', 128],
];

/** Loopback, link-local and multicast addresses, and the metadata services of clouds. */
const closed: readonly AddressRange[] = [
  ...loopbackRanges,
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 4],
  ['255.255.255.255', 32],
  ['::', 128],
  ['fe80::', 10],
  ['ff00::', 8],
  // Alibaba Cloud, Oracle Cloud, and the virtual public address of Azure
  ['100.100.100.200', 32],
  ['192.0.0.192', 32],
  ['168.63.129.16', 32],
  // AWS: instance metadata, and the agent of EKS Pod Identity; Google; Oracle; Alibaba; Scaleway; Akamai
  ['fd00:ec2::254', 128],
  ['fd00:ec2::23', 128],
  ['fd20:ce::254', 128],
  ['fd00:c1::a9fe:a9fe', 128],
  ['fd00:100::100:200', 128],
  ['fd00:42::42', 128],
  ['fd00:a9fe:a9fe::1', 128],
];

/** Addresses that the IANA special-purpose registries (RFC 6890) call not globally reachable, beyond `closed`. */
const local: readonly AddressRange[] = [
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['172.16.0.0', 12],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.168.0.0', 16],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['240.0.0.0', 4],
  ['100::', 64],
  // Teredo and ORCHID, which serve nothing
  ['2001::', 23],
  ['2001:db8::', 32],
  ['3fff::', 20],
  ['5f00::', 16],
  ['fc00::', 7],
  ['fec0::', 10],
];

/** True for the addresses of the set. */
export type AddressSet = (address: string) => boolean;

const isClosed = addressesIn(closed);
const isLocal = addressesIn(local);

/** All addresses except the `closed` ones that are not in `open`. Embedded IPv4 addresses are checked as well. */
export function allExceptClosed(open: readonly AddressRange[]): AddressSet {
  const isOpen = addressesIn(open);
  return (address) => formsOf(address).every((each) => isOpen(each) || !isClosed(each));
}

/** True for an address of the public internet. */
export function isPublic(address: string): boolean {
  return isIP(address) !== 0 && formsOf(address).every((each) => !isClosed(each) && !isLocal(each));
}

function addressesIn(ranges: readonly AddressRange[]): AddressSet {
  const list = new BlockList();
  for (const [address, length] of ranges) list.addSubnet(address, length, familyOf(address));
  return (address) => list.check(address, familyOf(address));
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

/** The address without its zone, and its embedded addresses. */
function formsOf(address: string): string[] {
  const plain = address.replace(/%.*$/, '');
  return [plain, ...embeddedIn(plain)];
}

/**
 * The IPv4 addresses that a network may translate an IPv6 address to: IPv4-mapped and IPv4-compatible (RFC 4291), IPv4-translated (RFC 2765),
 * 6to4 (RFC 3056), NAT64 (RFC 6052), and NAT64 with a local prefix (RFC 8215), whose length cannot be told from the address.
 */
function embeddedIn(address: string): string[] {
  const bytes = isIP(address) === 6 ? bytesOf(address) : undefined;
  if (bytes === undefined) return [];
  const at = (...indexes: number[]) => indexes.map((index) => bytes[index] ?? 0).join('.');
  const last = at(12, 13, 14, 15);
  const begins = (...prefix: number[]) => prefix.every((byte, index) => bytes[index] === byte);
  const isZero = (from: number, to: number) => bytes.slice(from, to).every((byte) => byte === 0);
  const isMapped = isZero(0, 10) && bytes[10] === 0xff && bytes[11] === 0xff;
  const isTranslated = isZero(0, 8) && bytes[8] === 0xff && bytes[9] === 0xff && isZero(10, 12);
  if (isMapped || isTranslated) return [last];
  // `::` and `::1` are true IPv6 addresses.
  if (isZero(0, 12)) return last === '0.0.0.0' || last === '0.0.0.1' ? [] : [last];
  if (begins(0x20, 0x02)) return [at(2, 3, 4, 5)];
  if (begins(0, 0x64, 0xff, 0x9b) && isZero(4, 12)) return [last];
  if (!begins(0, 0x64, 0xff, 0x9b, 0, 1)) return [];
  // Candidates for the prefix lengths; a candidate that starts with zero is padding of another length.
  const found = [last, at(6, 7, 9, 10), at(7, 9, 10, 11), at(9, 10, 11, 12)];
  const meant = found.filter((each) => !each.startsWith('0.'));
  return meant.length > 0 ? meant : [last];
}

/** The 16 bytes of an IPv6 address. */
function bytesOf(address: string): number[] {
  // A URL normalises dotted parts to hexadecimal words.
  const text = URL.parse(`http://[${address}]`)?.hostname.slice(1, -1) ?? '';
  const [head = '', tail] = text.split('::');
  const words = (part: string) =>
    part === '' ? [] : part.split(':').map((word) => Number.parseInt(word, 16));
  const [first, rest] = [words(head), tail === undefined ? [] : words(tail)];
  const all = [...first, ...Array<number>(8 - first.length - rest.length).fill(0), ...rest];
  return all.flatMap((word) => [word >> 8, word & 255]);
}
