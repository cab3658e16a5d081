import * as address from '#shared/address';
import { asConfig } from '../errors/as-config.ts';

/** As in shared/address; throws a config TransferError. */
export const fileURL = asConfig(address.fileURL);
