import * as address from '#shared/address';
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
} from '#shared/address';

/** As in shared/address; throws a config TransferError. */
export const parseImageName = asConfig(address.parseImageName);
/** As in shared/address; throws a config TransferError. */
export const parseReference = asConfig(address.parseReference);
