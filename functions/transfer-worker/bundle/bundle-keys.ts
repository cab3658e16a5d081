import type { KeyObject } from 'node:crypto';
import type { JobEndpoint } from '#shared/domain';
import { parsePrivateKey, parsePublicKeys } from '#shared/transfer';
import { config } from './bundle-spec.ts';

/** The key that signs what this side writes: `sign.key` of the Endpoint's Secret. Throws a config TransferError. */
export function signKeyOf({ name, keys }: JobEndpoint): KeyObject | undefined {
  return keys?.sign === undefined ? undefined : parsePrivateKey(keys.sign, `sign.key of Endpoint "${name}"`);
}

/** The keys of those whose writings are taken: `trust.pub` of the Endpoint's Secret. Throws a config TransferError. */
export function trustKeysOf({ name, keys }: JobEndpoint): KeyObject[] | undefined {
  return keys?.trust === undefined
    ? undefined
    : parsePublicKeys(keys.trust, `trust.pub of Endpoint "${name}"`);
}

/** The same keys, where there must be some. Throws a config TransferError that says where they belong. */
export function required<Key>(key: Key | undefined, { name }: JobEndpoint, what: string): Key {
  if (key !== undefined) return key;
  throw config(`Endpoint "${name}" has no ${what} in its Secret: put it there.`);
}
