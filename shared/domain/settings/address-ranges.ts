import { isIP } from 'node:net';

/** The first address of a range and how many of its bits all have, of a text such as `10.0.0.0/8`; undefined for one that is none. */
export function parseAddressRange(text: string): readonly [address: string, length: number] | undefined {
  const [, address = '', bits = ''] = /^([^/%]+)\/(\d{1,3})$/.exec(text) ?? [];
  const longest = { 4: 32, 6: 128 }[isIP(address)] ?? -1;
  return Number(bits) <= longest ? [address, Number(bits)] : undefined;
}
