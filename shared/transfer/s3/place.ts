import * as address from '#shared/address';
import { asConfig } from '../errors/as-config.ts';

export { awsHost, inRegion, isAnywhere, isAwsStorage, type S3Place } from '#shared/address';

/** As in shared/address; throws a config TransferError. */
export const s3Place = asConfig(address.s3Place);
