import * as address from '#shared/domain/address';
import { asConfig } from '../errors/as-config.ts';

export { hasFiles, movedName } from '#shared/domain/address';

/** As in shared/domain/address; throws a config TransferError. */
export const landingName = asConfig(address.landingName);
/** As in shared/domain/address; throws a config TransferError. */
export const landingEntry = asConfig(address.landingEntry);
/** As in shared/domain/address; throws a config TransferError. */
export const entryName = asConfig(address.entryName);
