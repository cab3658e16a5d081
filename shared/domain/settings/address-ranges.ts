import { isIP } from 'node:net';

/** Parses a CIDR range such as `10.0.0.0/8` into its first address and prefix length; undefined for any other text. */
export function parseAddressRange(text: string): readonly [address: string, length: number] | undefined {
  const [, address = '', bits = ''] = /^([^/%]+)\/(\d{1,3})$/.exec(text) ?? [];
  const longest = { 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return Number(bits) <= longest ? [address, Number(bits)] : undefined;
}
