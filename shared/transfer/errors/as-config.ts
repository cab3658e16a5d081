import { AddressError } from '#shared/domain/address';
import { TransferError } from './transfer-error.ts';

/** Wraps a function so that an address that cannot be resolved throws a TransferError with reason `config`. */
export function asConfig<Args extends unknown[], Result>(
  resolve: (...args: Args) => Result,
): (...args: Args) => Result {
  return (...args) => {
    try {
      return resolve(...args);
    } catch (caught) {
      if (caught instanceof AddressError) throw new TransferError('config', caught.message);
      throw caught;
    }
  };
}
