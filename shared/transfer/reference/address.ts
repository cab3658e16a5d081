/** The resolvers of shared/domain/address for transfers: an address that cannot be resolved throws a TransferError with reason `config`. */

import * as address from '#shared/domain/address';
import { TransferError } from '../errors/transfer-error.ts';

/** TLS settings of the connection to one server. */
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

export const parseImageName = asConfig(address.parseImageName);
export const parseReference = asConfig(address.parseReference);
export const resolveAddress = asConfig(address.resolveAddress);
export const fileURL = asConfig(address.fileURL);
export const s3Place = asConfig(address.s3Place);
export const landingName = asConfig(address.landingName);
export const landingEntry = asConfig(address.landingEntry);
export const entryName = asConfig(address.entryName);

function asConfig<Args extends unknown[], Result>(
  resolve: (...args: Args) => Result,
): (...args: Args) => Result {
  return (...args) => {
    try {
      return resolve(...args);
    } catch (caught) {
      if (caught instanceof address.AddressError) throw new TransferError('config', caught.message);
      throw caught;
    }
  };
}
