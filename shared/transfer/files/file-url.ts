import * as address from '#shared/domain/address';
import { asConfig } from '../errors/as-config.ts';

/** As in shared/domain/address; throws a config TransferError. */
export const fileURL = asConfig(address.fileURL);
