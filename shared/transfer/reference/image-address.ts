import * as address from '#shared/domain/address';
import { asConfig } from '../errors/as-config.ts';

export type { ImageAddress } from '#shared/domain/address';

/** TLS settings of the connection to one registry. */
export interface TlsSettings {
  /** PEM certificates to trust instead of, or in addition to, the built-in ones. */
  ca?: string;
  caBesideBuiltIn?: boolean;
  /** PEM client certificate and key, for servers that require mTLS. */
  certificate?: string;
  key?: string;
  insecureSkipVerify?: boolean;
  plainHTTP?: boolean;
}

/** See shared/domain/address. Throws a config TransferError. */
export const resolveAddress = asConfig(address.resolveAddress);
