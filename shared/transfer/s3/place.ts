import * as address from '#shared/domain/address';
import { asConfig } from '../errors/as-config.ts';

export { inRegion, isAnywhere, isAwsStorage, type S3Place } from '#shared/domain/address';

/** See shared/domain/address. Throws a config TransferError. */
export const s3Place = asConfig(address.s3Place);
