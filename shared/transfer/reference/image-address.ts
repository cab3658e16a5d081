import * as address from '#shared/domain/address';
import { asConfig } from '../errors/as-config.ts';

export type { ImageAddress } from '#shared/domain/address';

/** How the connection to one registry is made. */
export interface TlsSettings {
  /** PEM certificates to trust instead of the built-in ones, or beside them. */
  ca?: string;
  caBesideBuiltIn?: boolean;
  /** A PEM certificate and its key, for a server that asks who its client is (mTLS). */
  certificate?: string;
  key?: string;
  insecureSkipVerify?: boolean;
  plainHTTP?: boolean;
}

/** As in shared/domain/address; throws a config TransferError. */
export const resolveAddress = asConfig(address.resolveAddress);
