import type { KeyObject } from 'node:crypto';
import type { JobEndpoint } from '#shared/domain';
import { parsePrivateKey, parsePublicKeys } from '#shared/transfer';
import { config } from './bundle-spec.ts';

/** The key that signs bundles and receipts of this side: `sign.key` of the Endpoint's Secret. Throws a config TransferError. */
export function signKeyOf({ name, keys }: JobEndpoint): KeyObject | undefined {
  return keys?.sign === undefined ? undefined : parsePrivateKey(keys.sign, `sign.key of Endpoint "${name}"`);
}

/** The trusted public keys: `trust.pub` of the Endpoint's Secret. Throws a config TransferError. */
export function trustKeysOf({ name, keys }: JobEndpoint): KeyObject[] | undefined {
  return keys?.trust === undefined
    ? undefined
    : parsePublicKeys(keys.trust, `trust.pub of Endpoint "${name}"`);
}

/** Returns the key, or throws a config TransferError that names the missing field of the Secret. */
export function required<Key>(key: Key | undefined, { name }: JobEndpoint, what: string): Key {
  if (key !== undefined) return key;
  throw config(`Endpoint "${name}" has no ${what} in its Secret: add it.`);
}
