import * as address from '#shared/domain/address';
import { asConfig } from '../errors/as-config.ts';

export { hasFiles, movedName } from '#shared/domain/address';

/** See shared/domain/address. Throws a config TransferError. */
export const landingName = asConfig(address.landingName);
/** See shared/domain/address. Throws a config TransferError. */
export const landingEntry = asConfig(address.landingEntry);
/** See shared/domain/address. Throws a config TransferError. */
export const entryName = asConfig(address.entryName);
