import * as address from '#shared/domain/address';
import { asConfig } from '../errors/as-config.ts';

export {
  formatReference,
  type ImageName,
  isHost,
  isLoopback,
  isRepository,
  isTag,
  type Reference,
  registryURL,
} from '#shared/domain/address';

/** See shared/domain/address. Throws a config TransferError. */
export const parseImageName = asConfig(address.parseImageName);
/** See shared/domain/address. Throws a config TransferError. */
export const parseReference = asConfig(address.parseReference);
