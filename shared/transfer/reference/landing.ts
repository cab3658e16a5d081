import * as address from '#shared/address';
import { asConfig } from '../errors/as-config.ts';

export { hasFiles, movedName } from '#shared/address';

/** As in shared/address; throws a config TransferError. */
export const landingName = asConfig(address.landingName);
/** As in shared/address; throws a config TransferError. */
export const landingEntry = asConfig(address.landingEntry);
/** As in shared/address; throws a config TransferError. */
export const entryName = asConfig(address.entryName);
