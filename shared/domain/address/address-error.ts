import { ArcError } from '#shared/base/errors';

/** An address that cannot be resolved: the message says what is wrong with the Endpoint or the artifact, and what to do. */
export class AddressError extends ArcError {
  constructor(message: string) {
    super('Invalid', message);
  }
}
